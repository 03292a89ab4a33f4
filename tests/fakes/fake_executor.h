#ifndef KSEARCH_TESTS_FAKES_FAKE_EXECUTOR_H_
#define KSEARCH_TESTS_FAKES_FAKE_EXECUTOR_H_

#include <string>
#include <utility>

#include "common/mutex.h"
#include "gpu_worker/executor/job_executor.h"

namespace ksearch {

// Ends every job with PASSED at once, or, while held, when it is released or stopped. Thread-safe.
class FakeExecutor final : public JobExecutor {
 public:
  absl::StatusOr<v1::JobResult> Execute(const v1::JobSpec& spec, const v1::Task& /*task*/,
                                        const ProgressSink& progress,
                                        std::stop_token stop) override {
    progress(v1::HeldLease::RUNNING);
    MutexLock lock(&mu_);
    ++started_;
    changed_.NotifyAll();
    while (hold_ && !stop.stop_requested()) changed_.WaitFor(&mu_, absl::Milliseconds(5));
    v1::JobResult result;
    result.set_outcome(stop.stop_requested() ? v1::OUTCOME_CANCELLED : v1::OUTCOME_PASSED);
    result.set_message(spec.salt());
    ++ended_;
    changed_.NotifyAll();
    if (!trouble_.ok() && !stop.stop_requested()) return trouble_;
    return result;
  }

  void Hold(bool hold) {
    MutexLock lock(&mu_);
    hold_ = hold;
    changed_.NotifyAll();
  }
  // Every later job ends with this infrastructure trouble.
  void FailWith(absl::Status trouble) {
    MutexLock lock(&mu_);
    trouble_ = std::move(trouble);
  }
  int started() {
    MutexLock lock(&mu_);
    return started_;
  }
  int ended() {
    MutexLock lock(&mu_);
    return ended_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool hold_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status trouble_ ABSL_GUARDED_BY(mu_);
  int started_ ABSL_GUARDED_BY(mu_) = 0;
  int ended_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_EXECUTOR_H_
