#ifndef KSEARCH_COORDINATOR_LLM_EMBEDDING_SPLIT_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_EMBEDDING_SPLIT_CLIENT_H_

#include <memory>
#include <utility>

#include "coordinator/llm/llm_client.h"

namespace ksearch {

// Combines two clients of one server: one for embeddings, the other for everything else.
class SplitClient final : public LlmClient {
 public:
  SplitClient(std::unique_ptr<LlmClient> answers, std::unique_ptr<LlmClient> embeds)
      : answers_(std::move(answers)), embeds_(std::move(embeds)) {}

  void Complete(LlmRequest request, Done done) override {
    LlmClient& client = request.embeds ? *embeds_ : *answers_;
    client.Complete(std::move(request), std::move(done));
  }

 private:
  const std::unique_ptr<LlmClient> answers_;
  const std::unique_ptr<LlmClient> embeds_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_EMBEDDING_SPLIT_CLIENT_H_
