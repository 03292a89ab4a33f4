#include "coordinator/llm/anthropic/anthropic_client.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/anthropic/anthropic_json.h"
#include "coordinator/llm/provider/provider_error.h"

namespace ksearch {

AnthropicClient::AnthropicClient(ProviderOptions options, HttpTransport& transport,
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
  HttpRequest post = JsonPost(options_, url_, AnthropicRequestJson(request), request.labels);
  post.headers.push_back("Accept: text/event-stream");
  post.headers.push_back("anthropic-version: 2023-06-01");
  if (!options_.key.empty()) post.headers.push_back(options_.key.XApiKeyHeader());
  transport_.Post(std::move(post), [this, model = std::move(request.model), done = std::move(done)](
                                       absl::StatusOr<HttpResponse> response) mutable {
    std::move(done)(Interpret(response, model));
  });
}

absl::StatusOr<LlmReply> AnthropicClient::Interpret(const absl::StatusOr<HttpResponse>& response,
                                                    absl::string_view model) const {
  const std::string provider = absl::StrCat("provider \"", options_.provider, "\"");
  if (!response.ok()) return Annotate(response.status(), provider);
  const auto failure = [&](const std::optional<ProviderError>& error) {
    return Annotate(HttpFailure(*response, error, options_.key, url_, model, clock_.Now()),
                    provider);
  };
  if (response->status != 200) return failure(ParseAnthropicError(response->body));
  absl::StatusOr<AnthropicOutcome> outcome = ParseAnthropicStream(response->body);
  if (!outcome.ok()) return Annotate(outcome.status(), absl::StrCat(provider, ": ", url_));
  if (outcome->error) return failure(outcome->error);
  return std::move(outcome->reply);
}

}  // namespace ksearch
