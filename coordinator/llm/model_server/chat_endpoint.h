#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CHAT_ENDPOINT_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CHAT_ENDPOINT_H_

#include <memory>

#include "coordinator/llm/model_server/cassette_replies.h"
#include "coordinator/llm/model_server/reply_source.h"

namespace ksearch {

// An OpenAI-compatible server: POST /v1/chat/completions, POST /v1/embeddings, GET /v1/models, GET
// /health. Accepts any bytes as body; errors are error objects in OpenAI's form. Replies are sent
// whole even if a stream is requested. Embeddings are computed from the text alone
// (text_embedding.h). Thread-safe.
class ChatEndpoint {
 public:
  explicit ChatEndpoint(std::unique_ptr<ReplySource> source);
  ChatEndpoint(Cassette cassette, ChatEndpointOptions options)
      : ChatEndpoint(std::make_unique<CassetteReplies>(std::move(cassette), std::move(options))) {}

  EndpointResponse Answer(const EndpointRequest& request);

 private:
  const std::unique_ptr<ReplySource> source_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CHAT_ENDPOINT_H_
