#include "coordinator/llm/model_server/text_embedding.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "common/text_hash.h"

namespace ksearch {
namespace {

constexpr size_t kPlaces = 256;

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
    const uint64_t hash = Fnv1a(text.substr(at, end - at));
    at = end;
    CountFeature(MixBits(hash), &embedding);
    CountFeature(MixBits(hash * 0x9E3779B97F4A7C15 + before), &embedding);
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
