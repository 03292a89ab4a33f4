#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_TIMING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_TIMING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#include "gpu_worker/verifier/timing/device/gpu_timing.h"

namespace ksearch {

// The requirements of timing on this device: a reader of its clocks through NVML (without NVML they
// are not monitored, which is logged), its memory bandwidth as measured now, the peak rate of its
// multiprocessors, a probe, and copies. An error if the device does not work.
absl::StatusOr<GpuTiming> MakeGpuTiming(std::shared_ptr<VerifierDevice> device);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_TIMING_H_
