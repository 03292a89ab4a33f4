#ifndef KSEARCH_GPU_WORKER_DEVICE_DEVICE_MONITOR_H_
#define KSEARCH_GPU_WORKER_DEVICE_DEVICE_MONITOR_H_

#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Watches one device. Thread-safe.
class DeviceMonitor {
 public:
  virtual ~DeviceMonitor() = default;
  virtual v1::DeviceFingerprint Fingerprint() const = 0;
  // Takes less than 50 ms.
  virtual v1::DeviceHealth Sample() = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_DEVICE_MONITOR_H_
