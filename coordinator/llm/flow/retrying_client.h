#ifndef KSEARCH_COORDINATOR_LLM_FLOW_RETRYING_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_FLOW_RETRYING_CLIENT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/backoff.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/rng.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// v1::RetrySettings with its defaults filled in.
struct RetryOptions {
  int max_attempts = 5;
  absl::Duration first_delay = absl::Seconds(1);
  absl::Duration max_delay = absl::Seconds(60);
  // A server that asks for more is not waited for: the call fails, and the caller decides.
  absl::Duration max_retry_after = absl::Seconds(120);
};

// Tries calls again that may yet succeed: UNAVAILABLE up to max_attempts, DATA_LOSS and
// DEADLINE_EXCEEDED once (the provider may have billed the lost reply). Anything else is final.
// Waits max(Retry-After, full jitter); while one call has been told to wait, the others wait too.
class RetryingClient final : public LlmClient {
 public:
  // `timers` and `clock` are borrowed. Destroy the transport of `inner` and `timers` (one object,
  // usually) before this client.
  RetryingClient(std::unique_ptr<LlmClient> inner, HttpTransport& timers, const Clock& clock,
                 RetryOptions options, uint64_t seed);

  void Complete(LlmRequest request, Done done) override;

 private:
  struct Call {
    LlmRequest request;
    Done done;
    Backoff backoff;
    int attempts = 0;
    int costly_failures = 0;  // of the kinds that are retried once
  };

  // Starts the next attempt when the provider may be asked again.
  void StartWhenAllowed(std::unique_ptr<Call> call);
  void Start(std::unique_ptr<Call> call);
  void OnResult(std::unique_ptr<Call> call, absl::StatusOr<LlmReply> reply);
  void Wait(std::unique_ptr<Call> call, absl::Duration delay);
  bool MayRetry(Call* call, const absl::Status& status) const;

  const std::unique_ptr<LlmClient> inner_;
  HttpTransport& timers_;
  const Clock& clock_;
  const RetryOptions options_;

  Mutex mu_;
  Rng seeds_ ABSL_GUARDED_BY(mu_);
  absl::Time not_before_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // SteadyNow scale
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FLOW_RETRYING_CLIENT_H_
