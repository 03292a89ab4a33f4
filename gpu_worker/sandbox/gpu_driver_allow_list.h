#ifndef KSEARCH_GPU_WORKER_SANDBOX_GPU_DRIVER_ALLOW_LIST_H_
#define KSEARCH_GPU_WORKER_SANDBOX_GPU_DRIVER_ALLOW_LIST_H_

#include <sys/types.h>

#include <vector>

#include "gpu_worker/sandbox/allowed_call.h"

namespace ksearch {

// What ProcessorsAllowList has, and what NVIDIA's user-mode driver is publicly known to call once
// its context is there: requests to its device nodes (numbers as in NVIDIA's open kernel modules),
// their opening and mapping, and waiting for events. Not seen on a GPU yet:
// tests/gpu/trace_system_calls.sh tells what is missing there.
std::vector<AllowedCall> GpuDriverAllowList(pid_t self);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_GPU_DRIVER_ALLOW_LIST_H_
