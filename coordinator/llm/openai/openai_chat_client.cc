#include "coordinator/llm/openai/openai_chat_client.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/openai/chat_json.h"

namespace ksearch {

OpenAiChatClient::OpenAiChatClient(OpenAiChatOptions options, HttpTransport& transport,
                                   const Clock& clock)
    : options_(std::move(options)),
      url_(absl::StrCat(options_.base_url, "/chat/completions")),
      transport_(transport),
      clock_(clock) {}

void OpenAiChatClient::Complete(LlmRequest request, Done done) {
  if (request.model.empty()) request.model = options_.default_model;
  if (request.model.empty()) {
    return RefuseWithoutModel(options_, "openai_chat", transport_, std::move(done));
  }
  HttpRequest post = JsonPost(options_, url_, ChatRequestJson(request, options_.token_limit_field),
                              request.labels);
  post.headers.push_back("Accept: application/json");
  if (!options_.key.empty()) post.headers.push_back(options_.key.AuthorizationHeader());
  transport_.Post(std::move(post), [this, model = std::move(request.model), done = std::move(done)](
                                       absl::StatusOr<HttpResponse> response) mutable {
    std::move(done)(Interpret(response, model));
  });
}

absl::StatusOr<LlmReply> OpenAiChatClient::Interpret(const absl::StatusOr<HttpResponse>& response,
                                                     absl::string_view model) const {
  const std::string provider = absl::StrCat("provider \"", options_.provider, "\"");
  if (!response.ok()) return Annotate(response.status(), provider);
  const std::optional<ProviderError> error = ParseChatError(response->body);
  if (response->status != 200 || error) {
    return Annotate(HttpFailure(*response, error, options_.key, url_, model, clock_.Now()),
                    provider);
  }
  absl::StatusOr<LlmReply> reply = ParseChatReply(response->body);
  if (!reply.ok()) return Annotate(reply.status(), absl::StrCat(provider, ": ", url_));
  return reply;
}

}  // namespace ksearch
