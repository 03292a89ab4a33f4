#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_CALL_QUEUE_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_CALL_QUEUE_H_

#include <deque>
#include <optional>

#include "common/mutex.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// Calls that wait for the threads of a client that answers them itself, first come, first served.
// Thread-safe. To shut down: Close, join the threads, CancelRest.
class CallQueue {
 public:
  struct Call {
    LlmRequest request;
    LlmClient::Done done;
  };

  void Add(LlmRequest request, LlmClient::Done done);
  // Waits for a call. Returns nullopt once closed, even if calls are waiting.
  std::optional<Call> Take();
  void Close();
  // Ends the waiting calls with CANCELLED.
  void CancelRest();

 private:
  Mutex mu_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Call> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_CALL_QUEUE_H_
