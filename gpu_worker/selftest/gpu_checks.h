#ifndef KSEARCH_GPU_WORKER_SELFTEST_GPU_CHECKS_H_
#define KSEARCH_GPU_WORKER_SELFTEST_GPU_CHECKS_H_

#include <string>
#include <vector>

#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/selftest/finding.h"
#include "proto/config.pb.h"

namespace ksearch {

// Checks driver, NVML and every GPU that `settings` choose (device nodes, foreign processes,
// clocks), and what a sandbox gets of it.
std::vector<Finding> CheckGpus(const v1::DeviceSettings& settings,
                               const GpuSurroundings& surroundings);

// Checks the tools of the CUDA toolkit besides nvcc: compute-sanitizer, ncu and cuobjdump. Without
// them results contain less. `params`: the file in which the driver says who may profile.
std::vector<Finding> CheckCudaTools(const std::string& params = "/proc/driver/nvidia/params");

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_GPU_CHECKS_H_
