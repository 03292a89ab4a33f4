#ifndef KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
#define KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/device/gpu_facts.h"
#include "gpu_worker/device/nvml/nvml_gpu.h"
#include "gpu_worker/device/xid/kernel_log.h"
#include "gpu_worker/device/xid/xid_watch.h"
#include "proto/config.pb.h"

namespace ksearch {

// At or above this a GPU takes no jobs until it has cooled.
inline constexpr int kTooHotCelsius = 85;

// One NVIDIA GPU, watched through NVML. It is unhealthy while too hot, while a process of somebody
// else computes on it, while its device nodes are missing or barred, while MIG splits it, and,
// until the worker is started again, after an error of the device itself: lost from the bus, a new
// uncorrected memory error that is not a contained one, an Xid of the device (xid_table.h). Without
// NVML it knows the facts only and calls the GPU healthy while its nodes are there.
class CudaDeviceMonitor : public DeviceMonitor {
 public:
  struct Options {
    // A stranger on the GPU is no reason: for a machine shared on purpose.
    bool allow_busy = false;
    // Workers of other accounts take no turns with this one (ForeignProcessRules), unless a lock is
    // named.
    bool lock_is_named = false;
    std::string device_folder = "/dev";
    // Where NVML gives no Xid events; null: cannot be read.
    std::shared_ptr<KernelLog> kernel_log = nullptr;
    const Clock* clock = &Clock::Real();
  };
  // `gpu`: absent without NVML. Xids are watched from now on.
  CudaDeviceMonitor(const GpuFacts& facts, std::optional<NvmlGpu> gpu, Options options);

  v1::DeviceFingerprint Fingerprint() const override { return fingerprint_; }
  v1::DeviceHealth Sample() override;
  // Null without NVML, and while NVML tells nothing, as of a GPU that is lost.
  std::optional<v1::DeviceReading> Read() override;
  std::string FaultSince(absl::Time begin) override;
  // Where Xids come from, as XidWatch::source.
  std::string xid_source() const;

 private:
  // Takes in what has happened to the device.
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeXids(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeMemoryErrors(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Fault(absl::Time now, std::string what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Why this GPU takes no jobs at the moment; empty: no reason.
  std::string PassingFault() const;

  const GpuFacts facts_;
  const v1::DeviceFingerprint fingerprint_;
  const std::optional<NvmlGpu> gpu_;
  const Options options_;
  mutable Mutex mu_;
  XidWatch xids_ ABSL_GUARDED_BY(mu_);
  int64_t known_memory_errors_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time contained_error_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // the last
  // Since when there are memory errors that no Xid explains.
  std::optional<absl::Time> unexplained_since_ ABSL_GUARDED_BY(mu_);
  absl::Time last_fault_at_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::string last_fault_ ABSL_GUARDED_BY(mu_);
  // Why this GPU must not be used until an operator has looked; empty: no reason.
  std::string lasting_ ABSL_GUARDED_BY(mu_);
};

// OK, or FAILED_PRECONDITION with what to do: MIG is on.
absl::Status CheckGpuIsWhole(const NvmlGpu& gpu);
// The same, and for strangers on the GPU. For the start,
// before anything of ours runs on it.
absl::Status CheckGpuIsFree(const NvmlGpu& gpu, const v1::DeviceSettings& settings);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
