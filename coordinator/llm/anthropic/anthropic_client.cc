#include "coordinator/llm/anthropic/anthropic_client.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/llm/anthropic/anthropic_json.h"
#include "coordinator/llm/provider/provider_call.h"

namespace ksearch {

AnthropicClient::AnthropicClient(AnthropicOptions options, HttpTransport& transport,
                                 const Clock& clock)
    : options_(std::move(options)),
      url_(absl::StrCat(options_.base_url, "/v1/messages")),
      transport_(transport),
      clock_(clock) {}

void AnthropicClient::Complete(LlmRequest request, Done done) {
  if (request.model.empty()) request.model = options_.default_model;
  if (request.model.empty()) {
    return RefuseWithoutModel(options_, "anthropic", transport_, std::move(done));
  }
  HttpRequest post = JsonPost(
      options_, url_, AnthropicRequestJson(request, options_.cache_ttl, options_.extra_body),
      request.labels);
  post.headers.push_back("Accept: text/event-stream");
  post.headers.push_back("anthropic-version: 2023-06-01");
  if (!options_.key.empty()) post.headers.push_back(options_.key.XApiKeyHeader());
  SendForReply({options_, transport_, clock_, refused_}, std::move(post), std::move(request.model),
               std::make_shared<AnthropicReader>(static_cast<size_t>(options_.max_reply_bytes)),
               std::move(done));
}

}  // namespace ksearch
