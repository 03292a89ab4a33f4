#ifndef KSEARCH_GPU_WORKER_DEVICE_CPU_DEVICE_MONITOR_H_
#define KSEARCH_GPU_WORKER_DEVICE_CPU_DEVICE_MONITOR_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/device/harness_version.h"

namespace ksearch {

// The processors of this machine as one device. Unhealthy while hardly any memory is left.
class CpuDeviceMonitor : public DeviceMonitor {
 public:
  // Reads /proc and /sys below `root` ("": the real ones) once. INTERNAL if /proc/cpuinfo cannot be
  // read.
  static absl::StatusOr<std::unique_ptr<CpuDeviceMonitor>> Create(const std::string& root = "");

  v1::DeviceFingerprint Fingerprint() const override { return fingerprint_; }
  v1::DeviceHealth Sample() override;

 private:
  CpuDeviceMonitor(std::string root, v1::DeviceFingerprint fingerprint)
      : root_(std::move(root)), fingerprint_(std::move(fingerprint)) {}

  const std::string root_;
  const v1::DeviceFingerprint fingerprint_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_CPU_DEVICE_MONITOR_H_
