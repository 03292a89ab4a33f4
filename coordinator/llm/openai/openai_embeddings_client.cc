#include "coordinator/llm/openai/openai_embeddings_client.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/llm/openai/embeddings_json.h"
#include "coordinator/llm/provider/provider_call.h"

namespace ksearch {

OpenAiEmbeddingsClient::OpenAiEmbeddingsClient(OpenAiEmbeddingsOptions options,
                                               HttpTransport& transport, const Clock& clock)
    : options_(std::move(options)),
      url_(absl::StrCat(options_.base_url, "/embeddings")),
      transport_(transport),
      clock_(clock) {}

void OpenAiEmbeddingsClient::Complete(LlmRequest request, Done done) {
  if (request.model.empty()) request.model = options_.default_model;
  const std::string body =
      EmbeddingsRequestJson(request.model, PiecesToEmbed(request.user, options_.piece_bytes));
  HttpRequest post = JsonPost(options_, url_, body, request.labels, request.call_id);
  post.headers.push_back("Accept: application/json");
  if (!options_.key.empty()) post.headers.push_back(options_.key.AuthorizationHeader());
  SendForReply({options_, transport_, clock_, refused_}, std::move(post), std::move(request.model),
               std::make_shared<EmbeddingsReader>(std::move(request.user), options_.piece_bytes),
               std::move(done));
}

}  // namespace ksearch
