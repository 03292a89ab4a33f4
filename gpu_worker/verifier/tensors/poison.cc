#include "gpu_worker/verifier/tensors/poison.h"

#include <algorithm>
#include <cstring>
#include <cwchar>

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

// The C library's searches are several times as fast as a vectorized loop.
bool AnyByteIs(uint64_t word, const std::byte* memory, int64_t bytes) {
  return std::memchr(memory, static_cast<int>(word & 0xFF), static_cast<size_t>(bytes)) != nullptr;
}

bool AnyHalfIs(uint64_t word, const std::byte* memory, int64_t bytes) {
  constexpr uint64_t kLowest = 0x0001000100010001u;
  constexpr uint64_t kHighest = 0x8000800080008000u;
  constexpr int64_t kStretch = 1 << 14;
  for (int64_t first = 0; first + 8 <= bytes; first += kStretch) {
    const int64_t last = std::min(bytes, first + kStretch);
    // A zero half borrows, so halves above it may look like zero, too; "any half is zero" is exact.
    uint64_t zeros = 0;
    for (int64_t i = first; i + 8 <= last; i += 8) {
      uint64_t differs;
      std::memcpy(&differs, memory + i, sizeof differs);
      differs ^= word;
      zeros |= (differs - kLowest) & ~differs & kHighest;
    }
    if (zeros != 0) return true;
  }
  const auto pattern = static_cast<uint16_t>(word);
  for (int64_t i = bytes - bytes % 8; i + 2 <= bytes; i += 2) {
    if (std::memcmp(memory + i, &pattern, sizeof pattern) == 0) return true;
  }
  return false;
}

bool AnyWordIs(uint64_t word, const std::byte* memory, int64_t bytes) {
  static_assert(sizeof(wchar_t) == 4);
  return std::wmemchr(reinterpret_cast<const wchar_t*>(memory),
                      static_cast<wchar_t>(static_cast<uint32_t>(word)),
                      static_cast<size_t>(bytes / 4)) != nullptr;
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
  // Copies a piece that stays in the first-level cache; the C library uses the processor's widest
  // stores.
  constexpr int64_t kPiece = 4096;
  const int64_t first = std::min(bytes, kPiece);
  int64_t i = 0;
  for (; i + 8 <= first; i += 8) std::memcpy(out + i, &word, 8);
  std::memcpy(out + i, &word, static_cast<size_t>(first - i));
  for (i = first; i < bytes; i += kPiece) {
    std::memcpy(out + i, out, static_cast<size_t>(std::min(kPiece, bytes - i)));
  }
}

bool ShowsPoison(v1::DType dtype, uint64_t word, const std::byte* memory, int64_t bytes) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return AnyWordIs(word, memory, bytes);
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16:
      return AnyHalfIs(word, memory, bytes);
    case v1::DTYPE_FLOAT8_E4M3FN:
    case v1::DTYPE_FLOAT8_E5M2:
    case v1::DTYPE_BOOL:
      return AnyByteIs(word, memory, bytes);
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
  // If each word equals the one before it, all equal the first.
  return size <= sizeof word || std::memcmp(memory + sizeof word, memory, size - sizeof word) == 0;
}

}  // namespace ksearch
