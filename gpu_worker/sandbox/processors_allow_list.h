#ifndef KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_

#include <sys/types.h>

#include <vector>

#include "gpu_worker/sandbox/allowed_call.h"

namespace ksearch {

// All calls that the runner and a candidate for processors may make once the candidate is loaded:
// calls that the honest programs of tests/bad_candidates were seen to make (threads of their own
// and of OpenMP, memory, exceptions, output, clocks, loading; traced with strace on Linux 6.18,
// glibc 2.36), their equivalents in other versions of the C library, and calls that ask the kernel
// for facts about the machine. `self` is the calling process, the only one that signals may be sent
// to.
std::vector<AllowedCall> ProcessorsAllowList(pid_t self);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_
