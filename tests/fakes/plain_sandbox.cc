#include "tests/fakes/plain_sandbox.h"

#include <utility>

#include "common/status_macros.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

class PlainProcess final : public SandboxedProcess {
 public:
  explicit PlainProcess(std::unique_ptr<Subprocess> process) : process_(std::move(process)) {}
  std::optional<SandboxExit> Wait(absl::Time deadline) override {
    const std::optional<Subprocess::Exit> exit = process_->Wait(deadline);
    if (!exit.has_value()) return std::nullopt;
    SandboxExit result;
    result.signaled = exit->signaled;
    result.code = exit->code;
    return result;
  }
  void Kill() override { process_->Kill(); }
  void StopKeepingOutput() override {}
  pid_t pid() const override { return process_->pid(); }

 private:
  const std::unique_ptr<Subprocess> process_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SandboxedProcess>> PlainSandbox::Launch(const SandboxSpec& spec) {
  SubprocessOptions options;
  options.argv = spec.argv;
  options.environment = spec.environment;
  options.inherited_fds = spec.inherited_fds;
  options.working_directory = spec.working_directory;
  ASSIGN_OR_RETURN(std::unique_ptr<Subprocess> process, Subprocess::Start(options));
  last_pid_ = process->pid();
  return std::make_unique<PlainProcess>(std::move(process));
}

v1::IsolationLevel PlainSandbox::isolation() const {
  v1::IsolationLevel level;
  level.set_backend("none");
  return level;
}

}  // namespace ksearch
