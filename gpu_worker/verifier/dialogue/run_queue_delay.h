#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUN_QUEUE_DELAY_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUN_QUEUE_DELAY_H_

#include <sys/types.h>

#include "absl/time/time.h"
#include "common/unique_fd.h"

namespace ksearch {

// How long a thread was ready to run but had no core, as counted by the kernel
// (/proc/PID/schedstat). Distinguishes a busy machine from work that is hidden from the clock.
class RunQueueDelay {
 public:
  // The calling thread.
  static RunQueueDelay OfThisThread();
  // The main thread of process `pid`.
  static RunQueueDelay OfProcess(pid_t pid);

  struct Times {
    absl::Duration running, waiting;
  };

  // Since the thread started; zero if the kernel does not report it.
  Times Read() const;

 private:
  explicit RunQueueDelay(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUN_QUEUE_DELAY_H_
