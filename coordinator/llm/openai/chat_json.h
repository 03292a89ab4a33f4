#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_CHAT_JSON_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_CHAT_JSON_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/provider_error.h"

namespace ksearch {

// The JSON of POST /chat/completions, and nothing of HTTP. All functions are pure and take any
// bytes; strings that come out are UTF-8.

// Only fields that every server known to us accepts: model, messages, the token cap under
// `token_limit_field`, and reasoning_effort if asked for.
std::string ChatRequestJson(const LlmRequest& request, absl::string_view token_limit_field);

// The error in `body`, if it holds one: {"error":{...}}, {"error":"..."}, the same within an array,
// {"object":"error",...}, or {"detail":...}. nullopt for anything else.
std::optional<ProviderError> ParseChatError(absl::string_view body);

// The reply in the body of a 200. DATA_LOSS says what is missing: no JSON, no choices, or no text
// although the model says it stopped by itself. A leading <think>...</think> is cut. Output tokens
// are max(completion, total - prompt), since some servers leave reasoning out of the former.
absl::StatusOr<LlmReply> ParseChatReply(absl::string_view body);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_CHAT_JSON_H_
