#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_WAKER_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_WAKER_H_

#include <string>

#include "common/mutex.h"
#include "coordinator/engine/run_registry.h"

namespace ksearch {

// Wakes runs on behalf of the store's writer thread, which outlives the registry. Thread-safe.
class RunWaker {
 public:
  // nullptr: wakes no run.
  void Attach(RunRegistry* runs) {
    MutexLock lock(&mu_);
    runs_ = runs;
  }
  void Wake(const std::string& run_id) {
    MutexLock lock(&mu_);
    if (runs_ != nullptr) runs_->Wake(run_id);
  }

 private:
  Mutex mu_;
  RunRegistry* runs_ ABSL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_WAKER_H_
