#ifndef KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_

#include <sys/types.h>

#include <vector>

#include "gpu_worker/sandbox/allowed_call.h"

namespace ksearch {

// All that the runner and a candidate for processors may call once the candidate is there: what the
// honest programs of tests/bad_candidates were seen to call (threads of their own and of OpenMP,
// memory, exceptions, output, clocks, loading; traced with strace on Linux 6.18, glibc 2.36), what
// takes its place with other versions of the C library, and what asks the kernel for a fact about
// the machine. `self` is the calling process, the only one that may be sent a signal.
std::vector<AllowedCall> ProcessorsAllowList(pid_t self);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_
