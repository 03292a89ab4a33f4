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

// A GPU of at least this temperature gets no jobs until it has cooled down.
inline constexpr int kTooHotCelsius = 85;

// One NVIDIA GPU, monitored through NVML. It is unhealthy while it is too hot, while another user's
// process computes on it, while its device nodes are missing or inaccessible, while MIG splits it,
// and, until the worker is restarted, after an error of the device itself: lost from the bus, a new
// uncorrected memory error that is not contained, an Xid of the device (xid_table.h). Without NVML
// only its facts are known, and it counts as healthy while its nodes exist.
class CudaDeviceMonitor : public DeviceMonitor {
 public:
  struct Options {
    // Foreign processes on the GPU do not make it unhealthy: for a machine that is shared on
    // purpose.
    bool allow_busy = false;
    // Unless a lock is named, workers of other accounts do not take turns with this one
    // (ForeignProcessRules).
    bool lock_is_named = false;
    std::string device_folder = "/dev";
    // The source of Xid events if NVML gives none; null: cannot be read.
    std::shared_ptr<KernelLog> kernel_log = nullptr;
    const Clock* clock = &Clock::Real();
  };
  // `gpu`: absent without NVML. Xids are observed from now on.
  CudaDeviceMonitor(const GpuFacts& facts, std::optional<NvmlGpu> gpu, Options options);

  v1::DeviceFingerprint Fingerprint() const override { return fingerprint_; }
  v1::DeviceHealth Sample() override;
  // Null without NVML, and while NVML reports nothing, for example for a lost GPU.
  std::optional<v1::DeviceReading> Read() override;
  std::string FaultSince(absl::Time begin) override;
  // The source of Xids, as XidWatch::source.
  std::string xid_source() const;

 private:
  // Updates the state by what has happened to the device.
  void Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeXids(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeMemoryErrors(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Fault(absl::Time now, std::string what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns why this GPU accepts no jobs at the moment; empty if it does.
  std::string PassingFault() const;

  const GpuFacts facts_;
  const v1::DeviceFingerprint fingerprint_;
  const std::optional<NvmlGpu> gpu_;
  const Options options_;
  mutable Mutex mu_;
  XidWatch xids_ ABSL_GUARDED_BY(mu_);
  int64_t known_memory_errors_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time contained_error_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // the last
  // When memory errors that no Xid explains were first seen.
  std::optional<absl::Time> unexplained_since_ ABSL_GUARDED_BY(mu_);
  absl::Time last_fault_at_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::string last_fault_ ABSL_GUARDED_BY(mu_);
  // Why this GPU must not be used until an operator has looked at it; empty: no reason.
  std::string lasting_ ABSL_GUARDED_BY(mu_);
};

// FAILED_PRECONDITION with what to do if MIG is on.
absl::Status CheckGpuIsWhole(const NvmlGpu& gpu);
// The same, and also for foreign processes on the GPU. To be called at the start, before anything
// of ours runs on it.
absl::Status CheckGpuIsFree(const NvmlGpu& gpu, const v1::DeviceSettings& settings);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_CUDA_DEVICE_MONITOR_H_
