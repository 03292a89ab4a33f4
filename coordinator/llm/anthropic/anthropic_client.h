#ifndef KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_CLIENT_H_

#include <string>

#include "common/clock.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/provider_request.h"
#include "coordinator/llm/provider/refused_fields.h"

namespace ksearch {

// v1::Anthropic with its defaults filled in.
struct AnthropicOptions : ProviderOptions {
  std::string cache_ttl;  // "5m", "1h", or empty
};

// Client of POST {base_url}/v1/messages. Makes one attempt per call. Errors as of OpenAiChatClient,
// whether they arrive as an HTTP status or as an event of the stream.
class AnthropicClient final : public LlmClient {
 public:
  // Both references must outlive calls in flight: destroy the transport before this client.
  AnthropicClient(AnthropicOptions options, HttpTransport& transport, const Clock& clock);

  void Complete(LlmRequest request, Done done) override;

 private:
  const AnthropicOptions options_;
  const std::string url_;
  RefusedFields refused_{{"output_config.effort", "output_config", "thinking"}};
  HttpTransport& transport_;
  const Clock& clock_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_ANTHROPIC_ANTHROPIC_CLIENT_H_
