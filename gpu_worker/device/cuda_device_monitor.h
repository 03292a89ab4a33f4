#ifndef KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
#define KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/device/gpu_facts.h"
#include "gpu_worker/device/nvml/nvml_gpu.h"

namespace ksearch {

// At or above this a GPU takes no jobs until it has cooled.
inline constexpr int kTooHotCelsius = 85;

// Whether the driver's error number speaks of the GPU itself. Others (13, 31, 43, 45, 69 ...) are
// what a faulty or killed program leaves behind.
bool XidIsOfTheDevice(uint64_t xid);

// One NVIDIA GPU, watched through NVML. It is unhealthy while too hot, while a stranger computes on
// it, and, until the worker is started again, after an error of the device itself: lost from the
// bus, a new uncorrected memory error, an Xid of the device. Without NVML it knows the facts only
// and calls the GPU healthy.
class CudaDeviceMonitor : public DeviceMonitor {
 public:
  struct Options {
    // A stranger on the GPU is no reason: for a machine shared on purpose.
    bool allow_busy = false;
  };
  // `gpu`: absent without NVML. Registers for the GPU's Xid events.
  CudaDeviceMonitor(const GpuFacts& facts, std::optional<NvmlGpu> gpu, Options options);
  ~CudaDeviceMonitor() override;

  v1::DeviceFingerprint Fingerprint() const override { return fingerprint_; }
  v1::DeviceHealth Sample() override;

 private:
  // Why this GPU must not be used until somebody has looked; empty: no reason.
  std::string LastingFault() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string PassingFault() const;

  const v1::DeviceFingerprint fingerprint_;
  const std::optional<NvmlGpu> gpu_;
  const Options options_;
  Mutex mu_;
  NvmlEventSet events_ ABSL_GUARDED_BY(mu_) = nullptr;
  int64_t first_ecc_errors_ ABSL_GUARDED_BY(mu_) = 0;
  std::string lasting_ ABSL_GUARDED_BY(mu_);
};

// OK, or FAILED_PRECONDITION with what to do: strangers on the GPU, MIG is on. For the start,
// before anything of ours runs on it.
absl::Status CheckGpuIsFree(const NvmlGpu& gpu, bool allow_busy);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
