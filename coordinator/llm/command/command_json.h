#ifndef KSEARCH_COORDINATOR_LLM_COMMAND_COMMAND_JSON_H_
#define KSEARCH_COORDINATOR_LLM_COMMAND_COMMAND_JSON_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// Returns the reply in a program's JSON object: "result", "answer", "response" or "text" (the first
// that exists), "model", and "usage" with Anthropic's or OpenAI's names. DATA_LOSS: no object, or
// no such text. UNAVAILABLE with its text: "is_error" is true.
absl::StatusOr<LlmReply> ParseCommandJson(absl::string_view output);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_COMMAND_COMMAND_JSON_H_
