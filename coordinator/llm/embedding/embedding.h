#ifndef KSEARCH_COORDINATOR_LLM_EMBEDDING_EMBEDDING_H_
#define KSEARCH_COORDINATOR_LLM_EMBEDDING_EMBEDDING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Where a model of embeddings puts a text. Embeddings of one model have the same length.
using Embedding = std::vector<float>;

// The longest one that is taken; models of 2026 have up to 4096 numbers.
inline constexpr size_t kMaxEmbeddingNumbers = 16384;

// An embedding as the reply of a call: base64 of its numbers as 32-bit floats, the least byte
// first.
std::string EncodeEmbedding(const Embedding& embedding);
// DATA_LOSS: `text` is none, or it has a number that is not finite, or all of them are 0.
absl::StatusOr<Embedding> DecodeEmbedding(absl::string_view text);

// The cosine of the angle between two embeddings of equal length, in [-1, 1].
double CosineOf(const Embedding& a, const Embedding& b);

// `text` in pieces of at most `most_bytes`, which is at least 4: cut after a line's end where there
// is one in the second half of a piece, and never within a character.
std::vector<absl::string_view> PiecesToEmbed(absl::string_view text, size_t most_bytes);

// The embedding of a whole text from those of its pieces: the mean of their directions, each
// counted as often as its piece has bytes. INVALID_ARGUMENT: they differ in length, or cancel each
// other out. As many `pieces` as `embeddings`, at least one.
absl::StatusOr<Embedding> JoinEmbeddings(const std::vector<absl::string_view>& pieces,
                                         const std::vector<Embedding>& embeddings);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_EMBEDDING_EMBEDDING_H_
