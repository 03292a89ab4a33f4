#ifndef KSEARCH_GPU_WORKER_DEVICE_DEVICE_MONITOR_H_
#define KSEARCH_GPU_WORKER_DEVICE_DEVICE_MONITOR_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/result.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Monitors one device. Thread-safe.
class DeviceMonitor {
 public:
  virtual ~DeviceMonitor() = default;
  virtual v1::DeviceFingerprint Fingerprint() const = 0;
  // Takes less than 50 ms.
  virtual v1::DeviceHealth Sample() = 0;
  // Returns the device's present clocks, temperature and power; nullopt if it does not report them.
  // Takes a few milliseconds and starts nothing on the device.
  virtual std::optional<v1::DeviceReading> Read() { return std::nullopt; }
  // Returns a fault of the device itself that was noticed at `begin` (Clock::SteadyNow() scale) or
  // later, as text: whatever ran on it since then says nothing about the program. Empty: none. As
  // quick as Sample.
  virtual std::string FaultSince(absl::Time begin) {
    static_cast<void>(begin);
    return "";
  }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_DEVICE_MONITOR_H_
