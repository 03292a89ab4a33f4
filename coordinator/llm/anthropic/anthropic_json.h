#ifndef KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_
#define KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/provider_error.h"

namespace ksearch {

// The JSON of POST /v1/messages and of the event stream that answers it, and nothing of HTTP. All
// functions are pure and take any bytes; strings that come out are UTF-8.

// A streaming request, as the API refuses long replies otherwise. The system text is marked for the
// provider's prompt cache: it is the same for many calls. A reasoning effort turns adaptive
// thinking on; without one the model's default holds.
std::string AnthropicRequestJson(const LlmRequest& request);

// The error in `body`, if it is {"type":"error","error":{...}}. Where the API tells an empty
// account or a prompt that is too long by words alone, `code` is the name that OpenAI has for it.
std::optional<ProviderError> ParseAnthropicError(absl::string_view body);

// How a stream ended: with a reply, or with an error that the server found after its 200.
struct AnthropicOutcome {
  LlmReply reply;  // meaningless if `error` is set
  std::optional<ProviderError> error;
};

// Reads the body of a 200, all of it. Only text blocks make up the text; a refusal's text is the
// explanation, if one is given. Input tokens include those written to and read from the cache.
// DATA_LOSS says what is missing: no event stream, one that breaks off, or no text although the
// model says it stopped by itself.
absl::StatusOr<AnthropicOutcome> ParseAnthropicStream(absl::string_view body);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_JSON_H_
