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
// allow-list, beside a GPU's driver a list of what is refused.

// The loose filter as a BPF program for `bwrap --seccomp`.
absl::StatusOr<std::string> LooseFilterProgram();

// An in-memory file that holds `program`, at offset 0. A reader moves the offset: one file a
// launch.
absl::StatusOr<UniqueFd> FilterFile(absl::string_view program);

// Beside whom the candidate runs.
enum class TightFilterFor {
  kProcessors,
  // A GPU driver in the same process has needs of its own that nobody lists: all is allowed but
  // what is known to be an attack.
  kGpuDriver,
};

// Puts the tight filter on every thread of this process, for ever. Sets no_new_privs. Threads can
// still be made; fork, execve, socket, connect and bind cannot, nor timers and signals of input,
// which could wake a process that was stopped, nor a clone that waits for its child, which SIGSTOP
// does not stop, nor requests that the kernel works off by itself. A GPU's driver can go on, once
// it has opened its device, made its context and run a kernel. For kProcessors only the calls of
// ProcessorsAllowList are left, any other answers ENOSYS: no memory that outlives its mapping, no
// new files and folders, no locks and watches of files, no signals to others.
absl::Status InstallTightFilter(TightFilterFor whom);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_SECCOMP_FILTER_H_
