#ifndef KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_
#define KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/reply_reader.h"

namespace ksearch {

// The JSON of POST /v1/messages and of its event stream, independent of HTTP. All functions are
// pure and accept any bytes; strings that they return are UTF-8.

// Returns a streaming request, because the API refuses long replies otherwise. The system text,
// which many calls share, is marked for the provider's prompt cache with `cache_ttl` ("5m" or "1h";
// empty: the API's default, 5m). A reasoning effort enables adaptive thinking; without one the
// model's default applies. Members of the JSON object `extra_body` are added.
std::string AnthropicRequestJson(const LlmRequest& request, absl::string_view cache_ttl = "",
                                 absl::string_view extra_body = "");

// Returns the error in `body` if it is {"type":"error","error":{...}}. An empty account and a
// prompt that is too long have no codes of their own in this API; they get OpenAI's codes here.
std::optional<ProviderError> ParseAnthropicError(absl::string_view body);

// Only text blocks form the text; for a refusal, the text is the explanation if there is one.
// DATA_LOSS says what is missing: no event stream, a stream that breaks off, or no text although
// the model stopped normally. Also reads a whole message, from gateways that do not stream.
class AnthropicReader final : public ReplyReader {
 public:
  explicit AnthropicReader(size_t max_event_bytes = size_t{8} << 20)
      : ReplyReader(max_event_bytes) {}

  bool complete() const override { return !stop_reason_.empty() || error_.has_value(); }
  std::optional<ProviderError> ParseError(absl::string_view body) const override;

 private:
  absl::Status OnEvent(const SseEvent& event) override;
  absl::StatusOr<ReplyOutcome> EndOfStream() override;
  absl::StatusOr<ReplyOutcome> ReadWhole(absl::string_view body) override;

  LlmReply reply_;
  std::string stop_reason_;
  std::string refusal_;
  // Totals, some parts of which have separate counts.
  int64_t cache_write_tokens_ = 0;
  int64_t output_tokens_ = 0;
  std::optional<ProviderError> error_;
  friend struct AnthropicEvents;  // keeps the JSON library's header out of this one
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_
