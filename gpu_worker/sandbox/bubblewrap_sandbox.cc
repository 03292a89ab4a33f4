#include "gpu_worker/sandbox/bubblewrap_sandbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "gpu_worker/sandbox/bubblewrap_process.h"
#include "gpu_worker/sandbox/seccomp_filter.h"

namespace ksearch {
namespace {

// RLIMIT_DATA counts what is mapped, not what is used: stacks of threads (8 MiB each), mostly.
[[maybe_unused]] constexpr int64_t kUntouchedBytes = int64_t{512} << 20;
constexpr absl::Duration kTrialTime = absl::Seconds(30);

rlim_t Within(int64_t wanted, int resource) {
  struct rlimit now;
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &now) != 0) return wanted;
  return std::min<rlim_t>(static_cast<rlim_t>(wanted), now.rlim_max);
}

std::vector<std::pair<int, rlim_t>> ResourceLimits(const SandboxSpec& spec,
                                                   [[maybe_unused]] bool has_cgroup) {
  std::vector<std::pair<int, rlim_t>> limits;
  const auto add = [&limits](int resource, int64_t value) {
    limits.emplace_back(resource, Within(value, resource));
  };
  add(RLIMIT_CORE, 0);
  // Soft = hard: SIGKILL at the limit, not a SIGXCPU that can be ignored.
  add(RLIMIT_CPU,
      std::max<int64_t>(1, absl::ToInt64Seconds(absl::Ceil(spec.cpu_time, absl::Seconds(1)))));
  add(RLIMIT_FSIZE, spec.file_bytes);
  add(RLIMIT_NOFILE, spec.max_open_files);
#ifndef KSEARCH_SANITIZED  // sanitizers reserve terabytes
  if (spec.address_space_bytes > 0) add(RLIMIT_AS, spec.address_space_bytes);
  if (spec.limit_data && !has_cgroup) add(RLIMIT_DATA, spec.memory_bytes + kUntouchedBytes);
#endif
  return limits;
}

absl::Status CheckSpec(const SandboxSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty() || spec.argv[0][0] != '/') {
    return absl::InvalidArgumentError("sandbox: argv[0] must be an absolute path");
  }
  for (const auto& [from, to] : spec.inherited_fds) {
    if (from < 0 || to < 3) {
      return absl::InvalidArgumentError(absl::StrCat("sandbox: inherited descriptor ", from, " -> ",
                                                     to, ": 0, 1 and 2 belong to the sandbox"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BubblewrapSandbox>> BubblewrapSandbox::Create(Options options) {
  if (::geteuid() == 0 || ::getuid() == 0) {
    return absl::FailedPreconditionError(
        "the sandbox does not start as root: bubblewrap does not contain uid 0; run the worker "
        "under its own account or let it drop to run_as_uid");
  }
  ASSIGN_OR_RETURN(std::string filter, LooseFilterProgram());
  std::unique_ptr<BubblewrapSandbox> sandbox(
      new BubblewrapSandbox(std::move(options), std::move(filter)));
  RETURN_IF_ERROR(sandbox->Try());
  return sandbox;
}

absl::Status BubblewrapSandbox::Try() {
  SandboxSpec spec;
  spec.argv = {"/usr/bin/true"};
  ASSIGN_OR_RETURN(const auto process, Launch(spec));
  const auto exit = process->Wait(Clock::Real().SteadyNow() + kTrialTime);
  if (exit.has_value() && !exit->setup_failed && !exit->signaled && exit->code == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(
      options_.bubblewrap_path, " cannot make a sandbox here: ",
      exit.has_value() ? exit->output
                       : absl::StrCat("no answer in ", absl::FormatDuration(kTrialTime)),
      " (are unprivileged user namespaces allowed? see user.max_user_namespaces, "
      "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns)"));
}

absl::StatusOr<std::unique_ptr<SandboxedProcess>> BubblewrapSandbox::Launch(
    const SandboxSpec& spec) {
  // Checked again: the account may have changed since Create.
  if (::geteuid() == 0) return absl::FailedPreconditionError("the sandbox does not start as root");
  RETURN_IF_ERROR(CheckSpec(spec));
  std::unique_ptr<Cgroup> cgroup;
  if (options_.cgroup != nullptr) {
    // Two more processes are bubblewrap's own.
    ASSIGN_OR_RETURN(cgroup, options_.cgroup->MakeChild({.memory_bytes = spec.memory_bytes,
                                                         .max_processes = spec.max_processes + 2}));
  }
  ASSIGN_OR_RETURN(const UniqueFd filter, FilterFile(filter_));
  int status_pipe[2];
  if (::pipe2(status_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for sandbox status");
  UniqueFd status_read(status_pipe[0]);
  ::fcntl(status_read.get(), F_SETFL, O_NONBLOCK);
  const UniqueFd status_write(status_pipe[1]);
  auto process = std::make_unique<BubblewrapProcess>(std::move(cgroup), std::move(status_read));
  RETURN_IF_ERROR(process->StartCapture(spec.output_bytes));

  SubprocessOptions options;
  options.inherited_fds = spec.inherited_fds;
  int free_fd = 3;
  for (const auto& [from, to] : spec.inherited_fds) free_fd = std::max(free_fd, to + 1);
  options.inherited_fds.emplace_back(filter.get(), free_fd);
  options.inherited_fds.emplace_back(status_write.get(), free_fd + 1);
  options.inherited_fds.emplace_back(process->capture().write_fd(), 1);
  options.inherited_fds.emplace_back(process->capture().write_fd(), 2);
  options.argv = BubblewrapCommand(spec, options_.bubblewrap_path, options_.prlimit_path, free_fd,
                                   free_fd + 1);
  options.niceness = spec.niceness;
  options.new_session = spec.niceness != 0;
  options.limits = ResourceLimits(spec, process->cgroup() != nullptr);
  if (process->cgroup() != nullptr) options.joined_cgroups = process->cgroup()->join_fds();
  ASSIGN_OR_RETURN(auto child, spawner_.Start(options));
  process->Attach(std::move(child));
  return process;
}

v1::IsolationLevel BubblewrapSandbox::isolation() const {
  v1::IsolationLevel level;
  level.set_backend("bubblewrap");
  level.set_namespaces(true);
  level.set_seccomp(true);
  level.set_cgroup(options_.cgroup == nullptr ? "none" : options_.cgroup->version());
  level.set_unprivileged_uid(::geteuid() != 0);
  return level;
}

}  // namespace ksearch
