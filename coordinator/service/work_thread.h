#ifndef KSEARCH_COORDINATOR_SERVICE_WORK_THREAD_H_
#define KSEARCH_COORDINATOR_SERVICE_WORK_THREAD_H_

#include <deque>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "common/mutex.h"

namespace ksearch {

// One thread that runs what it is given, in order. For work that blocks, which a gRPC reaction must
// not (reactions share a few threads). Thread-safe.
class WorkThread {
 public:
  WorkThread();
  // Runs what is queued, then joins.
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void Post(absl::AnyInvocable<void()> work);
  // As the destructor; work posted later is dropped. Idempotent; not from the thread itself.
  void Stop();

 private:
  void Loop();

  Mutex mu_;
  CondVar changed_;
  std::deque<absl::AnyInvocable<void()>> queue_ ABSL_GUARDED_BY(mu_);
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORK_THREAD_H_
