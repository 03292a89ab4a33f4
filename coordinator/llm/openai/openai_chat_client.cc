#include "coordinator/llm/openai/openai_chat_client.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/llm/provider/provider_call.h"

namespace ksearch {

OpenAiChatClient::OpenAiChatClient(OpenAiChatOptions options, HttpTransport& transport,
                                   const Clock& clock)
    : options_(std::move(options)),
      request_options_(
          {.token_limit_field = options_.token_limit_field,
           .stream = options_.stream,
           .no_obfuscation = absl::StartsWith(options_.base_url, "https://api.openai.com/"),
           .extra_body = options_.extra_body}),
      url_(absl::StrCat(options_.base_url, "/chat/completions")),
      transport_(transport),
      clock_(clock) {}

void OpenAiChatClient::Complete(LlmRequest request, Done done) {
  if (request.model.empty()) request.model = options_.default_model;
  if (request.model.empty()) {
    return RefuseWithoutModel(options_, "openai_chat", transport_, std::move(done));
  }
  HttpRequest post = JsonPost(options_, url_, ChatRequestJson(request, request_options_),
                              request.labels, request.call_id);
  post.headers.push_back(options_.stream ? "Accept: text/event-stream, application/json"
                                         : "Accept: application/json");
  if (!options_.key.empty()) post.headers.push_back(options_.key.AuthorizationHeader());
  SendForReply({options_, transport_, clock_, refused_}, std::move(post), std::move(request.model),
               std::make_shared<ChatReader>(static_cast<size_t>(options_.max_reply_bytes)),
               std::move(done));
}

}  // namespace ksearch
