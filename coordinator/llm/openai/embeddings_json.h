#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_EMBEDDINGS_JSON_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_EMBEDDINGS_JSON_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/reply_reader.h"

namespace ksearch {

// The JSON of POST /embeddings, independent of HTTP. All functions are pure and accept any bytes.

// Uses only fields that every server known to us accepts, and encoding_format, which can be
// omitted.
std::string EmbeddingsRequestJson(const std::string& model,
                                  const std::vector<absl::string_view>& pieces);

// The content of the body of a 200 response.
struct EmbeddingsReply {
  std::vector<Embedding> embeddings;  // in the order of the pieces
  std::string model;
  TokenUsage usage;
  bool usage_reported = false;
};
// DATA_LOSS says what is missing or wrong: there must be one embedding for each of the `pieces`,
// with finite numbers that are not all 0, as an array of numbers or as base64 of 32-bit floats.
absl::StatusOr<EmbeddingsReply> ParseEmbeddings(absl::string_view body, size_t pieces);

// Reads the reply to a request with these pieces. The reply's text is the embedding of the whole
// text (EncodeEmbedding).
class EmbeddingsReader final : public ReplyReader {
 public:
  // Borrows nothing. `text` is the whole text of the pieces.
  EmbeddingsReader(std::string text, size_t piece_bytes)
      : ReplyReader(/*max_event_bytes=*/1), text_(std::move(text)), piece_bytes_(piece_bytes) {}

  bool complete() const override { return false; }  // embeddings are never streamed
  std::optional<ProviderError> ParseError(absl::string_view body) const override;

 private:
  absl::Status OnEvent(const SseEvent& event) override;
  absl::StatusOr<ReplyOutcome> EndOfStream() override;
  absl::StatusOr<ReplyOutcome> ReadWhole(absl::string_view body) override;

  const std::string text_;
  const size_t piece_bytes_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_EMBEDDINGS_JSON_H_
