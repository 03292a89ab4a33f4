#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_CHAT_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_CHAT_CLIENT_H_

#include <string>

#include "common/clock.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/openai/chat_json.h"
#include "coordinator/llm/provider/provider_request.h"
#include "coordinator/llm/provider/refused_fields.h"

namespace ksearch {

// v1::OpenAiChat with its defaults filled in.
struct OpenAiChatOptions : ProviderOptions {
  std::string token_limit_field = "max_completion_tokens";
  bool stream = true;
};

// Client of POST {base_url}/chat/completions. Makes one attempt per call. UNAVAILABLE means that
// retrying may help, and carries the server's Retry-After (retry_after.h). Messages name the
// provider, the URL and the fix.
class OpenAiChatClient final : public LlmClient {
 public:
  // Both references must outlive calls in flight: destroy the transport before this client.
  OpenAiChatClient(OpenAiChatOptions options, HttpTransport& transport, const Clock& clock);

  void Complete(LlmRequest request, Done done) override;

 private:
  const OpenAiChatOptions options_;
  const ChatRequestOptions request_options_;
  const std::string url_;
  RefusedFields refused_{
      {"stream_options.include_obfuscation", "stream_options", "reasoning_effort"}};
  HttpTransport& transport_;
  const Clock& clock_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_CHAT_CLIENT_H_
