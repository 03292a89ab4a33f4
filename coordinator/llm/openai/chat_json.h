#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_CHAT_JSON_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_CHAT_JSON_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/reply_reader.h"

namespace ksearch {

// The JSON of POST /chat/completions, independent of HTTP. All functions are pure and accept any
// bytes; strings that they return are UTF-8.

struct ChatRequestOptions {
  std::string token_limit_field = "max_completion_tokens";
  bool stream = false;
  // OpenAI pads streamed events with random text, which is useless within TLS. Other servers refuse
  // the field that disables it.
  bool no_obfuscation = false;
  // A JSON object whose members are added to the request, replacing those of the same name; may be
  // empty.
  std::string extra_body = "";
};

// Uses only fields that every server known to us accepts: model, messages, the token limit,
// streaming with a usage report, and reasoning_effort if requested.
std::string ChatRequestJson(const LlmRequest& request, const ChatRequestOptions& options);

// Returns the error in `body`, if there is one: {"error":{...}}, {"error":"..."}, the same within
// an array, {"object":"error",...}, or {"detail":...}. nullopt for anything else.
std::optional<ProviderError> ParseChatError(absl::string_view body);

// Parses the body of a 200 response. DATA_LOSS says what is missing: no JSON, no choices, or no
// text although the model stopped normally. A leading <think>...</think> is removed. Output tokens
// are max(completion, total - prompt), because some servers omit reasoning from the former.
absl::StatusOr<LlmReply> ParseChatReply(absl::string_view body);

// The same for a reply that is streamed in chunks and ended by "[DONE]". A stream that breaks off
// before a chunk with the finish reason is DATA_LOSS; one that breaks off later has no usage.
class ChatReader final : public ReplyReader {
 public:
  explicit ChatReader(size_t max_event_bytes = size_t{8} << 20) : ReplyReader(max_event_bytes) {}

  bool complete() const override { return !reply_.finish_reason.empty() || error_.has_value(); }
  std::optional<ProviderError> ParseError(absl::string_view body) const override;

 private:
  absl::Status OnEvent(const SseEvent& event) override;
  absl::StatusOr<ReplyOutcome> EndOfStream() override;
  absl::StatusOr<ReplyOutcome> ReadWhole(absl::string_view body) override;

  LlmReply reply_;
  std::string refusal_;
  std::optional<ProviderError> error_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_CHAT_JSON_H_
