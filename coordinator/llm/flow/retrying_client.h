#ifndef KSEARCH_COORDINATOR_LLM_FLOW_RETRYING_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_FLOW_RETRYING_CLIENT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/backoff.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/rng.h"
#include "coordinator/llm/flow/call_gate.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// v1::RetrySettings with its defaults filled in.
struct RetryOptions {
  int max_attempts = 5;
  absl::Duration first_delay = absl::Seconds(1);
  absl::Duration max_delay = absl::Seconds(60);
  // Total time of a call with all attempts and waits; no attempt starts later.
  absl::Duration call_deadline = absl::Hours(2);
};

// Starts calls as their model's gate permits, and retries failures that may be temporary:
// UNAVAILABLE up to max_attempts, DATA_LOSS and DEADLINE_EXCEEDED once (the provider may have
// billed the lost reply), and at once a request that was refused and has been corrected. Every
// other failure is final. Waits max(Retry-After, full jitter); when the server demands a pause, or
// its rate limits are used up, the gate closes for all calls.
//
// A call whose purpose is "check" is made once and at once: it ignores pauses and is not retried,
// so that the caller learns what is wrong.
class RetryingClient final : public LlmClient {
 public:
  // Returns the gate of a model; "" is the provider's default model.
  using GateOf = std::function<std::shared_ptr<CallGate>(const std::string& model)>;

  // Borrows `timers` and `clock`. Destroy the transport of `inner` and `timers` (usually one
  // object) before this client.
  RetryingClient(std::unique_ptr<LlmClient> inner, HttpTransport& timers, const Clock& clock,
                 RetryOptions options, GateOf gate_of, uint64_t seed);
  ~RetryingClient() override;

  void Complete(LlmRequest request, Done done) override;
  absl::Duration RestsFor(const std::string& model) override;

 private:
  struct Call;
  // Calls to one model that wait for its gate, in order.
  struct Lane {
    std::shared_ptr<CallGate> gate;
    std::deque<std::unique_ptr<Call>> waiting;
    int in_flight = 0;  // of this client; the gate may serve others, too
    bool timer_set = false;
    std::string last_failure;  // the provider's message at the last refusal or failure
  };

  void Enqueue(std::unique_ptr<Call> call);
  // Starts the calls that the gate admits and arranges to ask it again for the rest.
  void Pump(const std::string& model);
  void Start(std::unique_ptr<Call> call);
  void OnResult(std::unique_ptr<Call> call, absl::StatusOr<LlmReply> reply);
  void RetryAfter(std::unique_ptr<Call> call, absl::Duration delay);
  void CancelWaiting(const std::string& model, const absl::Status& status);
  bool MayRetry(Call* call, const absl::Status& status) const;

  const std::unique_ptr<LlmClient> inner_;
  HttpTransport& timers_;
  const Clock& clock_;
  const RetryOptions options_;
  const GateOf gate_of_;

  Mutex mu_;
  Rng seeds_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Lane> lanes_ ABSL_GUARDED_BY(mu_);  // by the request's model
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FLOW_RETRYING_CLIENT_H_
