#ifndef KSEARCH_GPU_WORKER_SANDBOX_GPU_DRIVER_ALLOW_LIST_H_
#define KSEARCH_GPU_WORKER_SANDBOX_GPU_DRIVER_ALLOW_LIST_H_

#include <sys/types.h>

#include <vector>

#include "gpu_worker/sandbox/allowed_call.h"

namespace ksearch {

// The calls of ProcessorsAllowList, and those that NVIDIA's user-mode driver is publicly known to
// make once its context exists: requests to its device nodes (numbers as in NVIDIA's open kernel
// modules), opening and mapping them, and waiting for events. Not verified on a GPU yet:
// tests/gpu/trace_system_calls.sh shows what is missing.
std::vector<AllowedCall> GpuDriverAllowList(pid_t self);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_GPU_DRIVER_ALLOW_LIST_H_
