#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_RESPONSES_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_RESPONSES_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/provider_call.h"
#include "coordinator/llm/provider/provider_request.h"

namespace ksearch {

// v1::OpenAiResponses with its defaults filled in.
struct OpenAiResponsesOptions : ProviderOptions {
  bool background = false;
  absl::Duration poll_interval = absl::Seconds(5);
};

// Client of POST {base_url}/responses. Makes one attempt per call. Errors as of OpenAiChatClient.
//
// In background mode, the id of the response is saved as the call's state before the response is
// polled, and a call that already has a state polls that response instead of requesting a new one,
// so that neither a restart nor a failed poll is billed twice. The state of a response that the
// server has lost, or that has failed, is dropped: the next attempt starts over.
class OpenAiResponsesClient final : public LlmClient {
 public:
  // Both references must outlive calls in flight: destroy the transport before this client.
  OpenAiResponsesClient(OpenAiResponsesOptions options, HttpTransport& transport,
                        const Clock& clock);

  void Complete(LlmRequest request, Done done) override;

 private:
  struct Job;  // a response in the background

  HttpRequest NewRequest(HttpRequest::Method method, const std::string& url, std::string body,
                         const LlmLabels& labels) const;
  void Begin(std::unique_ptr<Job> job);
  void OnBegun(std::unique_ptr<Job> job, absl::StatusOr<HttpResponse> response);
  void PollAfter(std::unique_ptr<Job> job, absl::Duration delay);
  void Poll(std::unique_ptr<Job> job);
  void OnPolled(std::unique_ptr<Job> job, absl::StatusOr<HttpResponse> response);
  // Ends the call if `response` says that it has ended; otherwise returns `job`, to be polled
  // again.
  std::unique_ptr<Job> FinishIfOver(std::unique_ptr<Job> job,
                                    const absl::StatusOr<HttpResponse>& response);
  void GiveUp(std::unique_ptr<Job> job);
  std::string ResponseUrl(const Job& job) const;
  ProviderContext context() { return {options_, transport_, clock_, refused_}; }

  const OpenAiResponsesOptions options_;
  const std::string url_;
  RefusedFields refused_{{"reasoning.effort", "reasoning"}};
  HttpTransport& transport_;
  const Clock& clock_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_OPENAI_RESPONSES_CLIENT_H_
