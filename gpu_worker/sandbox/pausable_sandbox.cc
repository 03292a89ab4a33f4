#include "gpu_worker/sandbox/pausable_sandbox.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/sandbox/process_tree.h"

namespace ksearch {
namespace {

// How often a waiting caller looks whether there was a pause. The end of a program shows at once.
constexpr absl::Duration kLookAgain = absl::Milliseconds(200);
// A program in a long system call, such as one that writes to a slow disk, stops after it.
constexpr absl::Duration kStopTime = absl::Seconds(1);

void Stop(pid_t program) {
  if (StopTree(program, kStopTime)) return;
  LOG(WARNING) << "msg=\"a program does not stop while others are measured\" pid=" << program;
}

}  // namespace

class PausableSandbox::Process : public SandboxedProcess {
 public:
  Process(std::unique_ptr<SandboxedProcess> process, PausableSandbox& sandbox)
      : process_(std::move(process)), sandbox_(sandbox) {}
  ~Process() override { Forget(); }

  std::optional<SandboxExit> Wait(absl::Time deadline) override {
    while (true) {
      const absl::Duration left = deadline - sandbox_.Now();
      std::optional<SandboxExit> exit =
          process_->Wait(sandbox_.clock_.SteadyNow() + std::min(left, kLookAgain));
      if (exit.has_value()) {
        Forget();
        return exit;
      }
      if (sandbox_.Now() >= deadline) return std::nullopt;
    }
  }
  void Kill() override { process_->Kill(); }
  void StopKeepingOutput() override { process_->StopKeepingOutput(); }
  pid_t pid() const override { return process_->pid(); }

 private:
  void Forget() {
    MutexLock lock(&sandbox_.mu_);
    sandbox_.running_.erase(process_->pid());
  }

  const std::unique_ptr<SandboxedProcess> process_;
  PausableSandbox& sandbox_;
};

absl::StatusOr<std::unique_ptr<SandboxedProcess>> PausableSandbox::Launch(const SandboxSpec& spec) {
  ASSIGN_OR_RETURN(std::unique_ptr<SandboxedProcess> process, sandbox_.Launch(spec));
  const pid_t pid = process->pid();
  auto wrapped = std::make_unique<Process>(std::move(process), *this);
  MutexLock lock(&mu_);
  running_.insert(pid);
  if (paused_at_ != absl::InfiniteFuture()) Stop(pid);
  return wrapped;
}

absl::Time PausableSandbox::Now() const {
  MutexLock lock(&mu_);
  return std::min(clock_.SteadyNow(), paused_at_) - paused_;
}

void PausableSandbox::Pause() {
  MutexLock lock(&mu_);
  if (paused_at_ != absl::InfiniteFuture()) return;
  paused_at_ = clock_.SteadyNow();
  for (const pid_t program : running_) Stop(program);
}

void PausableSandbox::Resume() {
  MutexLock lock(&mu_);
  if (paused_at_ == absl::InfiniteFuture()) return;
  for (const pid_t program : running_) ContinueTree(program);
  paused_ += clock_.SteadyNow() - paused_at_;
  paused_at_ = absl::InfiniteFuture();
}

}  // namespace ksearch
