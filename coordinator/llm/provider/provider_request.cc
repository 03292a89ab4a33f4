#include "coordinator/llm/provider/provider_request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

// Labels come from the search's own tree, but a line break in one would forge a header.
std::string HeaderLine(absl::string_view name, absl::string_view value) {
  std::string line = absl::StrCat(name, ": ", value.substr(0, 200));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '_');
  return line;
}

}  // namespace

HttpRequest JsonPost(const ProviderOptions& options, absl::string_view url, std::string body,
                     const LlmLabels& labels, absl::string_view call_id) {
  HttpRequest post{.url = std::string(url),
                   .headers = {"Content-Type: application/json"},
                   .body = std::move(body),
                   .timeouts = options.timeouts,
                   .max_reply_bytes = options.max_reply_bytes,
                   .ca_file = options.ca_file};
  if (options.label_headers) {
    post.headers.push_back(HeaderLine("X-Ksearch-Purpose", labels.purpose));
    post.headers.push_back(HeaderLine("X-Ksearch-Attempt", absl::StrCat(labels.attempt)));
    post.headers.push_back(HeaderLine("X-Ksearch-Cycle", absl::StrCat(labels.cycle)));
    if (!call_id.empty()) post.headers.push_back(HeaderLine("X-Ksearch-Call", call_id));
    if (!labels.node_id.empty()) {
      post.headers.push_back(HeaderLine("X-Ksearch-Node", labels.node_id));
    }
  }
  return post;
}

absl::Status CheckExtraBody(absl::string_view text) {
  if (text.empty() || ParseJson(text).is_object()) return absl::OkStatus();
  return absl::InvalidArgumentError("must be a JSON object, such as {\"service_tier\": \"flex\"}");
}

void RefuseWithoutModel(const ProviderOptions& options, absl::string_view kind,
                        HttpTransport& transport, LlmClient::Done done) {
  const absl::Status refusal = absl::InvalidArgumentError(
      absl::StrCat("provider \"", options.provider, "\": no model; name one for the run, or set ",
                   kind, ".default_model"));
  transport.RunAfter(absl::ZeroDuration(),
                     [refusal, done = std::move(done)](absl::Status status) mutable {
                       std::move(done)(status.ok() ? refusal : std::move(status));
                     });
}

}  // namespace ksearch
