#ifndef KSEARCH_GPU_WORKER_SANDBOX_BUBBLEWRAP_PROCESS_H_
#define KSEARCH_GPU_WORKER_SANDBOX_BUBBLEWRAP_PROCESS_H_

#include <memory>
#include <optional>
#include <utility>

#include "common/subprocess.h"
#include "common/unique_fd.h"
#include "gpu_worker/sandbox/cgroup.h"
#include "gpu_worker/sandbox/output_capture.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// The number of processes that the kernel has killed on this machine for lack of memory, whatever
// limit was exceeded; absent if the kernel does not count them (before Linux 4.13).
std::optional<int64_t> MachineOutOfMemoryKills();

// A program under bubblewrap. The outer bubblewrap is our child; when it dies, the namespace's init
// does, and the kernel then kills everything inside.
class BubblewrapProcess : public SandboxedProcess {
 public:
  // `status` is the reading end of --json-status-fd. `cgroup` may be null.
  BubblewrapProcess(std::unique_ptr<Cgroup> cgroup, UniqueFd status)
      : cgroup_(std::move(cgroup)),
        machine_kills_before_(MachineOutOfMemoryKills()),
        status_(std::move(status)) {}
  ~BubblewrapProcess() override;

  // These two must be called before any other method, once each, the capture first, because its
  // flood kills through Kill.
  absl::Status StartCapture(int64_t keep_bytes);
  void Attach(std::unique_ptr<Subprocess> process);
  OutputCapture& capture() { return *capture_; }
  Cgroup* cgroup() { return cgroup_.get(); }

  std::optional<SandboxExit> Wait(absl::Time deadline) override;
  void Kill() override;
  void StopKeepingOutput() override { capture_->StopKeeping(); }
  pid_t pid() const override { return process_->pid(); }

 private:
  // Returns true if bubblewrap reported that its child was started.
  bool ProgramRan();

  std::unique_ptr<Cgroup> cgroup_;
  const std::optional<int64_t> machine_kills_before_;
  UniqueFd status_;
  Mutex mu_;
  Subprocess* attached_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool kill_asked_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<Subprocess> process_;
  std::unique_ptr<OutputCapture> capture_;
  std::optional<SandboxExit> exit_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_BUBBLEWRAP_PROCESS_H_
