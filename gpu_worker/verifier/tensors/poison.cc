#include "gpu_worker/verifier/tensors/poison.h"

#include <algorithm>
#include <cstring>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

template <typename T>
uint64_t Repeat(T pattern) {
  uint64_t word = 0;
  for (size_t i = 0; i < sizeof(word) / sizeof(T); ++i) {
    word |= static_cast<uint64_t>(pattern) << (8 * sizeof(T) * i);
  }
  return word;
}

// No early exit inside a stretch, so that the loop vectorizes.
template <typename T>
bool AnyElementIs(uint64_t word, const std::byte* memory, int64_t bytes) {
  constexpr int64_t kStretch = 4096;
  const T pattern = static_cast<T>(word);
  const int64_t count = bytes / static_cast<int64_t>(sizeof(T));
  for (int64_t first = 0; first < count; first += kStretch) {
    const int64_t last = std::min(count, first + kStretch);
    bool found = false;
    for (int64_t i = first; i < last; ++i) {
      T value;
      std::memcpy(&value, memory + i * static_cast<int64_t>(sizeof(T)), sizeof value);
      found |= value == pattern;
    }
    if (found) return true;
  }
  return false;
}

}  // namespace

uint64_t PoisonWord(v1::DType dtype, uint64_t salt) {
  const uint32_t random = Philox(salt).Block(0)[0];
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      // Bit 20 keeps the payload off the default NaN.
      return Repeat<uint32_t>(0x7FD00000u | (random & 0x800FFFFFu));
    case v1::DTYPE_FLOAT16:
      return Repeat<uint16_t>(static_cast<uint16_t>(0x7F00u | (random & 0x80FFu)));
    case v1::DTYPE_BFLOAT16:
      return Repeat<uint16_t>(static_cast<uint16_t>(0x7FE0u | (random & 0x801Fu)));
    case v1::DTYPE_FLOAT8_E4M3FN:
      return Repeat<uint8_t>(static_cast<uint8_t>(0x7Fu | (random & 0x80u)));
    case v1::DTYPE_FLOAT8_E5M2:
      return Repeat<uint8_t>(static_cast<uint8_t>(0x7Du | (random & 0x82u)));
    case v1::DTYPE_BOOL:
      return Repeat<uint8_t>(static_cast<uint8_t>(2u + random % 250));
    default:
      return Repeat<uint32_t>(random);
  }
}

void FillPoison(uint64_t word, std::byte* out, int64_t bytes) {
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8) std::memcpy(out + i, &word, 8);
  std::memcpy(out + i, &word, static_cast<size_t>(bytes - i));
}

bool ShowsPoison(v1::DType dtype, uint64_t word, const std::byte* memory, int64_t bytes) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return AnyElementIs<uint32_t>(word, memory, bytes);
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16:
      return AnyElementIs<uint16_t>(word, memory, bytes);
    case v1::DTYPE_FLOAT8_E4M3FN:
    case v1::DTYPE_FLOAT8_E5M2:
    case v1::DTYPE_BOOL:
      return AnyElementIs<uint8_t>(word, memory, bytes);
    default:
      break;
  }
  if (bytes < 8) return false;
  for (int64_t i = 0; i + 8 <= bytes; i += 8) {
    if (std::memcmp(memory + i, &word, 8) != 0) return false;
  }
  return true;
}

bool IsAllPoison(uint64_t word, const std::byte* memory, int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  if (std::memcmp(memory, &word, std::min(size, sizeof word)) != 0) return false;
  // As each word is like the one before it, all are like the first.
  return size <= sizeof word || std::memcmp(memory + sizeof word, memory, size - sizeof word) == 0;
}

}  // namespace ksearch
