#ifndef KSEARCH_GPU_WORKER_SANDBOX_PAUSABLE_SANDBOX_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PAUSABLE_SANDBOX_H_

#include <sys/types.h>

#include <memory>
#include <set>

#include "common/clock.h"
#include "common/mutex.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// A sandbox whose programs can all be stopped for a while. The time of the pause counts for no
// deadline of theirs. Thread-safe.
class PausableSandbox : public Sandbox {
 public:
  // Everything is borrowed.
  PausableSandbox(Sandbox& sandbox, const Clock& clock) : sandbox_(sandbox), clock_(clock) {}

  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override;
  v1::IsolationLevel isolation() const override { return sandbox_.isolation(); }
  // Does not advance during a pause.
  absl::Time Now() const override;

  // Stops all programs, and until Resume those that are launched meanwhile. Logs a program that
  // does not stop.
  void Pause();
  void Resume();

 private:
  class Process;

  Sandbox& sandbox_;
  const Clock& clock_;
  mutable Mutex mu_;
  std::set<pid_t> running_ ABSL_GUARDED_BY(mu_);
  // The beginning of the current pause; InfiniteFuture: there is none.
  absl::Time paused_at_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::Duration paused_ ABSL_GUARDED_BY(mu_);  // in earlier pauses
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PAUSABLE_SANDBOX_H_
