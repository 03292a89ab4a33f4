#ifndef KSEARCH_COORDINATOR_SERVICE_WORK_THREAD_H_
#define KSEARCH_COORDINATOR_SERVICE_WORK_THREAD_H_

#include <deque>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "common/mutex.h"

namespace ksearch {

// One thread that runs posted work in order, for work that blocks. gRPC reactions must not block,
// because they share a few threads. Thread-safe.
class WorkThread {
 public:
  WorkThread();
  // Runs the queued work, then joins the thread.
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void Post(absl::AnyInvocable<void()> work);
  // The same; work posted later is dropped. Idempotent. Must not be called from the thread itself.
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
