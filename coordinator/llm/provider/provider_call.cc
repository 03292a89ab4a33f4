#include "coordinator/llm/provider/provider_call.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/provider/provider_error.h"

namespace ksearch {

absl::Status OfProvider(const ProviderOptions& options, const absl::Status& status) {
  return Annotate(status, absl::StrCat("provider \"", options.provider, "\""));
}

absl::StatusOr<LlmReply> ReadResponse(const ProviderContext& context, absl::string_view url,
                                      absl::string_view model,
                                      const absl::StatusOr<HttpResponse>& response,
                                      ReplyReader& reader) {
  const ProviderOptions& options = context.options;
  if (!response.ok() && !reader.complete()) return OfProvider(options, response.status());
  const auto failure = [&](const std::optional<ProviderError>& error) {
    return OfProvider(options,
                      HttpFailure(*response, error, options.key, url, model, context.clock.Now()));
  };
  if (response.ok() && response->status != 200) return failure(reader.ParseError(response->body));
  absl::StatusOr<ReplyOutcome> outcome = reader.Finish(response.ok() ? response->body : "");
  if (!outcome.ok()) return OfProvider(options, Annotate(outcome.status(), url));
  if (outcome->error) return failure(outcome->error);
  return std::move(outcome->reply);
}

void SendForReply(const ProviderContext& context, HttpRequest request, std::string model,
                  std::shared_ptr<ReplyReader> reader, LlmClient::Done done) {
  request.on_event_stream = [reader](absl::string_view bytes) { return reader->Push(bytes); };
  std::string url = request.url;
  context.transport.Send(std::move(request),
                         [context, url = std::move(url), model = std::move(model), reader,
                          done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
                           std::move(done)(ReadResponse(context, url, model, response, *reader));
                         });
}

}  // namespace ksearch
