#include "coordinator/llm/provider/call_queue.h"

#include <utility>

#include "absl/status/status.h"

namespace ksearch {

void CallQueue::Add(LlmRequest request, LlmClient::Done done) {
  MutexLock lock(&mu_);
  waiting_.push_back({std::move(request), std::move(done)});
  changed_.NotifyOne();
}

std::optional<CallQueue::Call> CallQueue::Take() {
  MutexLock lock(&mu_);
  while (waiting_.empty() && !closed_) changed_.Wait(&mu_);
  if (closed_) return std::nullopt;
  Call call = std::move(waiting_.front());
  waiting_.pop_front();
  return call;
}

void CallQueue::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
  changed_.NotifyAll();
}

void CallQueue::CancelRest() {
  std::deque<Call> rest;
  {
    MutexLock lock(&mu_);
    rest.swap(waiting_);
  }
  for (Call& call : rest) call.done(absl::CancelledError("the coordinator is shutting down"));
}

}  // namespace ksearch
