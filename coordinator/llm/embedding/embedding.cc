#include "coordinator/llm/embedding/embedding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace ksearch {
namespace {

double LengthOf(const Embedding& embedding) {
  double square = 0;
  for (const float number : embedding) square += double{number} * double{number};
  return std::sqrt(square);
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string EncodeEmbedding(const Embedding& embedding) {
  std::string bytes;
  bytes.reserve(4 * embedding.size());
  for (const float number : embedding) {
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xFF);
  }
  return absl::Base64Escape(bytes);
}

absl::StatusOr<Embedding> DecodeEmbedding(absl::string_view text) {
  std::string bytes;
  const bool fits = text.size() <= kMaxEmbeddingNumbers * 4 * 4 / 3 + 4;
  if (!fits || !absl::Base64Unescape(text, &bytes) || bytes.empty() || bytes.size() % 4 != 0 ||
      bytes.size() / 4 > kMaxEmbeddingNumbers) {
    return absl::DataLossError(
        absl::StrCat("no embedding: not base64 of 1 to ", kMaxEmbeddingNumbers, " floats"));
  }
  Embedding embedding(bytes.size() / 4);
  for (size_t i = 0; i < embedding.size(); ++i) {
    uint32_t bits = 0;
    for (size_t k = 4; k-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[4 * i + k]);
    std::memcpy(&embedding[i], &bits, sizeof(bits));
  }
  const double length = LengthOf(embedding);
  if (std::isfinite(length) && length > 0) return embedding;
  return absl::DataLossError("no embedding: a number is not finite, or all are 0");
}

double CosineOf(const Embedding& a, const Embedding& b) {
  CHECK(a.size() == b.size());
  double product = 0;
  for (size_t i = 0; i < a.size(); ++i) product += double{a[i]} * double{b[i]};
  const double lengths = LengthOf(a) * LengthOf(b);
  return lengths > 0 ? std::clamp(product / lengths, -1.0, 1.0) : 0;
}

std::vector<absl::string_view> PiecesToEmbed(absl::string_view text, size_t most_bytes) {
  CHECK(most_bytes >= 4);
  std::vector<absl::string_view> pieces;
  while (text.size() > most_bytes) {
    size_t length = most_bytes;
    const size_t line_end = text.substr(0, most_bytes).rfind('\n');
    if (line_end != absl::string_view::npos && line_end >= most_bytes / 2) {
      length = line_end + 1;
    } else {
      while (length > most_bytes - 4 && ContinuesCharacter(text[length])) --length;
    }
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  if (!text.empty() || pieces.empty()) pieces.push_back(text);
  return pieces;
}

absl::StatusOr<Embedding> JoinEmbeddings(const std::vector<absl::string_view>& pieces,
                                         const std::vector<Embedding>& embeddings) {
  CHECK(!pieces.empty() && pieces.size() == embeddings.size());
  if (embeddings.size() == 1) return embeddings[0];
  std::vector<double> sum(embeddings[0].size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (embeddings[i].size() != sum.size()) {
      return absl::InvalidArgumentError("the embeddings of two pieces differ in length");
    }
    const double length = LengthOf(embeddings[i]);
    if (!(length > 0)) continue;
    const double weight = static_cast<double>(pieces[i].size()) / length;
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += weight * double{embeddings[i][k]};
  }
  double square = 0;
  for (const double number : sum) square += number * number;
  if (!(square > 0)) {
    return absl::InvalidArgumentError("the embeddings of the pieces cancel each other out");
  }
  Embedding joined;
  joined.reserve(sum.size());
  for (const double number : sum) joined.push_back(static_cast<float>(number / std::sqrt(square)));
  return joined;
}

}  // namespace ksearch
