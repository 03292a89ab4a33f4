#ifndef KSEARCH_COORDINATOR_SERVICE_RESULT_WATCH_H_
#define KSEARCH_COORDINATOR_SERVICE_RESULT_WATCH_H_

#include <cstdint>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace ksearch {

// Lets threads wait until results have been recorded. Thread-safe.
class ResultWatch {
 public:
  void Notify() {
    MutexLock lock(&mu_);
    ++count_;
    changed_.NotifyAll();
  }
  // Returns the number of recorded results once it exceeds `seen` or `timeout` has passed.
  int64_t Wait(int64_t seen, absl::Duration timeout) {
    MutexLock lock(&mu_);
    if (count_ <= seen) changed_.WaitFor(&mu_, timeout);
    return count_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int64_t count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_RESULT_WATCH_H_
