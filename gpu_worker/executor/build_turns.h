#ifndef KSEARCH_GPU_WORKER_EXECUTOR_BUILD_TURNS_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_BUILD_TURNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "gpu_worker/device/device_lock.h"
#include "gpu_worker/sandbox/pausable_sandbox.h"

namespace ksearch {

// Builds take turns with measurements on the processors that both use: compilers beside a
// measurement would distort its numbers. The builds of a worker run side by side. Once a
// measurement, of this worker or another of the machine, has waited for them for `patience`, they
// are paused until it is over, so that a build or a problem's Python that takes minutes keeps
// nobody waiting. Thread-safe.
class BuildTurns {
 public:
  // A build, from Begin until this is destroyed. Movable; must not outlive its BuildTurns.
  class Turn {
   public:
    Turn(Turn&& other) : turns_(std::exchange(other.turns_, nullptr)), number_(other.number_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->End(number_);
    }

   private:
    friend class BuildTurns;
    Turn(BuildTurns* turns, int64_t number) : turns_(turns), number_(number) {}
    BuildTurns* turns_;
    const int64_t number_;
  };

  static constexpr absl::Duration kPatience = absl::Seconds(5);

  // Borrows `lock`, that of the processors, and `sandbox`, in which all builds run.
  BuildTurns(DeviceLock* lock, PausableSandbox* sandbox, absl::Duration patience = kPatience)
      : lock_(*lock), sandbox_(*sandbox), patience_(patience) {}
  ~BuildTurns();
  BuildTurns(const BuildTurns&) = delete;
  BuildTurns& operator=(const BuildTurns&) = delete;

  // Waits until nothing is measured. CANCELLED after `stop`.
  absl::StatusOr<Turn> Begin(std::stop_token stop);

 private:
  void End(int64_t number);
  void Loop(std::stop_token stop);
  // Lets those go first who wait to measure.
  void GiveWay(std::stop_token stop);

  DeviceLock& lock_;
  PausableSandbox& sandbox_;
  const absl::Duration patience_;
  Mutex mu_;
  CondVar changed_;
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  // The builds in progress. After a pause `common_` holds the lock for those without a hold.
  std::map<int64_t, std::optional<DeviceLock::Hold>> builds_ ABSL_GUARDED_BY(mu_);
  std::optional<DeviceLock::Hold> common_ ABSL_GUARDED_BY(mu_);
  std::jthread thread_ ABSL_GUARDED_BY(mu_);  // from the first build on
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_BUILD_TURNS_H_
