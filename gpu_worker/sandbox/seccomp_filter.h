#ifndef KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_
#define KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/unique_fd.h"

namespace ksearch {

// Two filters. The loose one holds for the whole life of a sandboxed process and must let a
// compiler, a loader and a driver start: calls that reach for more privileges answer EPERM. The
// tight one is added by the runner just before it loads the candidate: no new program, process or
// socket, and the calls that only an escape needs kill the process. Beside processors it is an
// allow-list, beside a GPU's driver a list of what is refused or, where that is asked for, an
// allow-list as well.

// The loose filter as a BPF program for `bwrap --seccomp`.
absl::StatusOr<std::string> LooseFilterProgram();

// An in-memory file that holds `program`, at offset 0. A reader moves the offset: one file a
// launch.
absl::StatusOr<UniqueFd> FilterFile(absl::string_view program);

// Beside whom the candidate runs, and what that list is.
enum class TightFilter {
  kProcessors,
  // All is allowed but what is known to be an attack: a GPU's driver in the same process has needs
  // of its own.
  kGpuDenyList,
  // The same, and the kernel's log (dmesg, type=1326) tells what kGpuAllowList would refuse: each
  // such call, though no more lines a second than the kernel writes there.
  kGpuLog,
  // Only the calls of GpuDriverAllowList.
  kGpuAllowList,
};

// What `sandbox.gpu_filter` of a worker's configuration means: "allow-list" (the default, ""),
// "log" or "deny-list".
absl::StatusOr<TightFilter> GpuFilterNamed(absl::string_view name);

// Puts the tight filter on every thread of this process, permanently. Sets no_new_privs. Threads
// can still be made; fork, execve, socket, connect and bind cannot, nor timers and signals of
// input, which could wake a process that was stopped, nor a clone that waits for its child, which
// SIGSTOP does not stop, nor requests that the kernel works off by itself. A GPU's driver can go
// on, once it has opened its device, made its context and run a kernel. Under an allow-list any
// other call answers ENOSYS; that for processors has no memory that outlives its mapping, no new
// files and folders, no locks and watches of files, no signals to others.
absl::Status InstallTightFilter(TightFilter filter);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_
