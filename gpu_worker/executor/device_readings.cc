#include "gpu_worker/executor/device_readings.h"

#include <algorithm>
#include <optional>

namespace ksearch {

const std::vector<v1::DeviceReading>& DeviceReadings::At(absl::Time now) {
  if (now - read_at_ < kReadEvery) return readings_;
  read_at_ = now;
  readings_.clear();
  for (DeviceMonitor* const monitor : monitors_) {
    std::optional<v1::DeviceReading> reading = monitor->Read();
    if (reading.has_value()) readings_.push_back(*std::move(reading));
  }
  std::sort(readings_.begin(), readings_.end(),
            [](const v1::DeviceReading& a, const v1::DeviceReading& b) {
              return a.device_id() < b.device_id();
            });
  return readings_;
}

}  // namespace ksearch
