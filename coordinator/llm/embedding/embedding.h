#ifndef KSEARCH_COORDINATOR_LLM_EMBEDDING_EMBEDDING_H_
#define KSEARCH_COORDINATOR_LLM_EMBEDDING_EMBEDDING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The vector of a text in an embedding model. Embeddings of one model have the same length.
using Embedding = std::vector<float>;

// The longest embedding that is accepted; models of 2026 have up to 4096 numbers.
inline constexpr size_t kMaxEmbeddingNumbers = 16384;

// Encodes an embedding as the reply of a call: base64 of its numbers as little-endian 32-bit
// floats.
std::string EncodeEmbedding(const Embedding& embedding);
// DATA_LOSS: `text` is not an embedding, a number is not finite, or all numbers are 0.
absl::StatusOr<Embedding> DecodeEmbedding(absl::string_view text);

// Returns the cosine of the angle between two embeddings of equal length, in [-1, 1].
double CosineOf(const Embedding& a, const Embedding& b);

// Splits `text` into pieces of at most `most_bytes`, which must be at least 4: after the end of a
// line if there is one in the second half of a piece, and never within a character.
std::vector<absl::string_view> PiecesToEmbed(absl::string_view text, size_t most_bytes);

// Combines the embeddings of a text's pieces: the mean of their directions, weighted by the bytes
// of the pieces. INVALID_ARGUMENT: they differ in length, or cancel each other out. REQUIRES: as
// many `pieces` as `embeddings`, at least one.
absl::StatusOr<Embedding> JoinEmbeddings(const std::vector<absl::string_view>& pieces,
                                         const std::vector<Embedding>& embeddings);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_EMBEDDING_EMBEDDING_H_
