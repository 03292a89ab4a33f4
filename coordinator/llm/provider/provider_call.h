#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_PROVIDER_CALL_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_PROVIDER_CALL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/provider_request.h"
#include "coordinator/llm/provider/refused_fields.h"
#include "coordinator/llm/provider/reply_reader.h"

namespace ksearch {

// The context of one attempt. All members must outlive calls in flight.
struct ProviderContext {
  const ProviderOptions& options;
  HttpTransport& transport;
  const Clock& clock;
  RefusedFields& refused;
};

// Sends `request`, without the members that `model` is known to refuse, and reads its reply with
// `reader`, streamed or whole. Statuses have LlmClient's codes, name the provider, the URL and the
// fix, and never contain the key. They carry the bytes of an unreadable reply (raw_reply.h), and
// say whether the request would now be sent without the refused members (IsCorrected).
void SendForReply(const ProviderContext& context, HttpRequest request, std::string model,
                  std::shared_ptr<ReplyReader> reader, LlmClient::Done done);

// Returns the outcome of a request whose reply `reader` has read already or reads from the
// response's body.
absl::StatusOr<LlmReply> ReadResponse(const ProviderContext& context, absl::string_view url,
                                      absl::string_view model,
                                      const absl::StatusOr<HttpResponse>& response,
                                      ReplyReader& reader);

// Processes the `failure` of a request with the optional members `sent`; marks it as corrected if
// the model refuses one of them.
absl::Status LearnRefusal(const ProviderContext& context, const std::string& model,
                          const std::vector<std::string>& sent, absl::Status failure);

// Prefixes the message: "provider "name": <message>".
absl::Status OfProvider(const ProviderOptions& options, const absl::Status& status);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_PROVIDER_CALL_H_
