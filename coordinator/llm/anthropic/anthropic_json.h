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

// The JSON of POST /v1/messages and of the event stream that answers it, and nothing of HTTP. All
// functions are pure and take any bytes; strings that come out are UTF-8.

// A streaming request, as the API refuses long replies otherwise. The system text is marked for the
// provider's prompt cache, for `cache_ttl` ("5m" or "1h"; empty: the API's default, 5m): it is the
// same for many calls. A reasoning effort turns adaptive thinking on; without one the model's
// default holds. Members of the JSON object `extra_body` are added.
std::string AnthropicRequestJson(const LlmRequest& request, absl::string_view cache_ttl = "",
                                 absl::string_view extra_body = "");

// The error in `body`, if it is {"type":"error","error":{...}}. Where the API tells an empty
// account or a prompt that is too long by words alone, `code` is the name that OpenAI has for it.
std::optional<ProviderError> ParseAnthropicError(absl::string_view body);

// Only text blocks make up the text; a refusal's text is the explanation, if one is given.
// DATA_LOSS says what is missing: no event stream, one that breaks off, or no text although the
// model says it stopped by itself. Also reads a whole message, from gateways that do not stream.
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
  // Totals of which a part has a name of its own.
  int64_t cache_write_tokens_ = 0;
  int64_t output_tokens_ = 0;
  std::optional<ProviderError> error_;
  friend struct AnthropicEvents;  // what needs the JSON library's header
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_
