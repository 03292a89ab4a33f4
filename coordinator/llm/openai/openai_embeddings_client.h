#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_EMBEDDINGS_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_EMBEDDINGS_CLIENT_H_

#include <cstddef>
#include <string>

#include "common/clock.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/provider_request.h"
#include "coordinator/llm/provider/refused_fields.h"

namespace ksearch {

// default_model is the embedding model; extra_body is not sent.
struct OpenAiEmbeddingsOptions : ProviderOptions {
  size_t piece_bytes = 8000;
};

// Client of POST {base_url}/embeddings for LlmRequest.user, which is split into pieces if it is
// long. Makes one attempt per call. The reply's text is an embedding (EncodeEmbedding). Errors as
// of OpenAiChatClient.
class OpenAiEmbeddingsClient final : public LlmClient {
 public:
  // Both references must outlive calls in flight: destroy the transport before this client.
  OpenAiEmbeddingsClient(OpenAiEmbeddingsOptions options, HttpTransport& transport,
                         const Clock& clock);

  void Complete(LlmRequest request, Done done) override;

 private:
  const OpenAiEmbeddingsOptions options_;
  const std::string url_;
  RefusedFields refused_{{"encoding_format"}};
  HttpTransport& transport_;
  const Clock& clock_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_EMBEDDINGS_CLIENT_H_
