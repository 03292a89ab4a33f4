#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_EMBEDDINGS_ANSWER_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_EMBEDDINGS_ANSWER_H_

#include "absl/strings/string_view.h"
#include "coordinator/llm/model_server/reply_source.h"

namespace ksearch {

// Answers the body of POST /v1/embeddings in OpenAI's form, by EmbeddingOfText. Accepts any bytes.
EndpointResponse EmbeddingsAnswer(absl::string_view body);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_EMBEDDINGS_ANSWER_H_
