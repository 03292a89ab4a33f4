#ifndef KSEARCH_GPU_WORKER_SANDBOX_BUBBLEWRAP_SANDBOX_H_
#define KSEARCH_GPU_WORKER_SANDBOX_BUBBLEWRAP_SANDBOX_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/sandbox/cgroup.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/sandbox/spawner.h"

namespace ksearch {

// Runs each program through bubblewrap: own user, pid, mount, network, IPC, UTS and cgroup
// namespaces, an empty root with the system's /usr read-only, sized tmpfs on /tmp and /dev/shm, no
// capabilities, the loose seccomp filter, rlimits, and a control group if available.
//
// Never as root: uid 0 inside would be uid 0 outside, and /proc/sys would be writable (measured
// with bubblewrap 0.8.0). An exit status of 129 to 192 is reported as a signal, because bubblewrap
// passes on its child's signals in that way.
class BubblewrapSandbox : public Sandbox {
 public:
  struct Options {
    std::string bubblewrap_path;
    std::string prlimit_path = "/usr/bin/prlimit";
    std::unique_ptr<CgroupParent> cgroup;  // null: none
  };

  // Runs /usr/bin/true once, so that a machine without support is detected at the start.
  // FAILED_PRECONDITION as root; UNAVAILABLE with bubblewrap's own message if the trial fails.
  static absl::StatusOr<std::unique_ptr<BubblewrapSandbox>> Create(Options options);

  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override;
  v1::IsolationLevel isolation() const override;

 private:
  BubblewrapSandbox(Options options, std::string filter)
      : options_(std::move(options)), filter_(std::move(filter)) {}
  absl::Status Try();

  const Options options_;
  const std::string filter_;  // BPF program
  Spawner spawner_;
};

// Returns the complete command line for `spec`; descriptors are given by their numbers in the
// child. Pure except that it checks whether the system has /lib and /lib64 as links.
std::vector<std::string> BubblewrapCommand(const SandboxSpec& spec,
                                           const std::string& bubblewrap_path,
                                           const std::string& prlimit_path, int filter_fd,
                                           int status_fd);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_BUBBLEWRAP_SANDBOX_H_
