#ifndef KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_
#define KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/unique_fd.h"

namespace ksearch {

// Two filters. The loose one holds for the whole life of a sandboxed process and must permit a
// compiler, a loader and a driver to start: calls that ask for more privileges return EPERM. The
// runner adds the tight one just before it loads the candidate: no new program, process or socket,
// and calls that only an escape needs kill the process. On processors it is an allow-list; beside a
// GPU's driver it is a deny-list or, on request, an allow-list as well.

// The loose filter as a BPF program for `bwrap --seccomp`.
absl::StatusOr<std::string> LooseFilterProgram();

// Returns an in-memory file that contains `program`, at offset 0. A reader moves the offset: use
// one file per launch.
absl::StatusOr<UniqueFd> FilterFile(absl::string_view program);

// The candidate's environment and the kind of list.
enum class TightFilter {
  kProcessors,
  // Permits everything except known attacks, because a GPU's driver in the same process has needs
  // of its own.
  kGpuDenyList,
  // The same, and the kernel's log (dmesg, type=1326) shows what kGpuAllowList would refuse: each
  // such call, though no more lines per second than the kernel writes.
  kGpuLog,
  // Only the calls of GpuDriverAllowList.
  kGpuAllowList,
};

// Parses `sandbox.gpu_filter` of a worker's configuration: "allow-list" (the default, ""), "log" or
// "deny-list".
absl::StatusOr<TightFilter> GpuFilterNamed(absl::string_view name);

// Installs the tight filter on every thread of this process, permanently. Sets no_new_privs. New
// threads are still possible. Not possible are: fork, execve, socket, connect and bind; timers and
// signals of input, which could wake a stopped process; a clone that waits for its child, which
// SIGSTOP does not stop; and requests that the kernel processes by itself. A GPU's driver can
// continue, once it has opened its device, made its context and run a kernel. Under an allow-list
// any other call returns ENOSYS; the one for processors permits no memory that outlives its
// mapping, no new files and folders, no locks and watches of files, and no signals to others.
absl::Status InstallTightFilter(TightFilter filter);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_
