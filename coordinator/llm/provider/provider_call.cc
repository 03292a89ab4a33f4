#include "coordinator/llm/provider/provider_call.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/utf8.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/failure/raw_reply.h"
#include "coordinator/llm/failure/retry_after.h"
#include "coordinator/llm/flow/rate_limit.h"

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
  LlmReply reply = std::move(outcome->reply);
  reply.text = options.key.WithoutWholeKey(std::move(reply.text));
  return reply;
}

absl::Status LearnRefusal(const ProviderContext& context, const std::string& model,
                          const std::vector<std::string>& sent, absl::Status failure) {
  if (context.refused.Learn(model, sent, failure)) SetCorrected(&failure);
  return failure;
}

void SendForReply(const ProviderContext& context, HttpRequest request, std::string model,
                  std::shared_ptr<ReplyReader> reader, LlmClient::Done done) {
  RefusedFields::Body body = context.refused.Without(model, std::move(request.body));
  request.body = std::move(body.json);
  const auto raw = std::make_shared<std::string>();  // the stream's beginning
  request.on_event_stream = [reader, raw](absl::string_view bytes) {
    absl::StrAppend(raw.get(), bytes.substr(0, kMaxRawReplyBytes - raw->size()));
    return reader->Push(bytes);
  };
  std::string url = request.url;
  context.transport.Send(
      std::move(request),
      [context, url = std::move(url), model = std::move(model), sent = std::move(body.optional),
       reader, raw, done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
        absl::StatusOr<LlmReply> reply = ReadResponse(context, url, model, response, *reader);
        if (reply.ok()) {
          if (response.ok()) {
            reply->pause = RateLimitPause(response->headers, reply->usage, context.clock.Now());
          }
          return std::move(done)(std::move(reply));
        }
        absl::Status status = LearnRefusal(context, model, sent, reply.status());
        if (absl::IsDataLoss(status)) {
          if (raw->empty() && response.ok()) *raw = response->body.substr(0, kMaxRawReplyBytes);
          SetRawReply(&status, AsUtf8(context.options.key.Redacted(*raw)));
        }
        std::move(done)(std::move(status));
      });
}

}  // namespace ksearch
