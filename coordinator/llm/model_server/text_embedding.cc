#include "coordinator/llm/model_server/text_embedding.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"

namespace ksearch {
namespace {

constexpr size_t kPlaces = 256;

uint64_t Mix(uint64_t x) {  // the finalizer of SplitMix64
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9;
  x ^= x >> 27;
  x *= 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '_' || byte >= 0x80;
}

void CountFeature(uint64_t hash, Embedding* embedding) {
  (*embedding)[hash % kPlaces] += (hash >> 32 & 1) != 0 ? 1.0F : -1.0F;
}

}  // namespace

Embedding EmbeddingOfText(absl::string_view text) {
  Embedding embedding(kPlaces);
  uint64_t before = 0;
  for (size_t at = 0; at < text.size();) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (IsWordByte(text[at]) && end < text.size() && IsWordByte(text[end])) ++end;
    uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
    for (; at < end; ++at) hash = (hash ^ static_cast<unsigned char>(text[at])) * 0x100000001B3;
    CountFeature(Mix(hash), &embedding);
    CountFeature(Mix(hash * 0x9E3779B97F4A7C15 + before), &embedding);
    before = hash;
  }
  double square = 0;
  for (const float number : embedding) square += double{number} * double{number};
  if (!(square > 0)) {
    embedding[0] = 1;
    return embedding;
  }
  for (float& number : embedding) number = static_cast<float>(number / std::sqrt(square));
  return embedding;
}

}  // namespace ksearch
