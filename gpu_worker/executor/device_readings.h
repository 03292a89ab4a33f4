#ifndef KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_READINGS_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_READINGS_H_

#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gpu_worker/device/device_monitor.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// The newest readings of a worker's devices, for people and metrics. Reads rarely: a GPU answers
// without using its multiprocessors, and the verifier reads the same clocks between batches, but a
// measurement should meet as little of it as possible. Not thread-safe.
class DeviceReadings {
 public:
  static constexpr absl::Duration kReadEvery = absl::Seconds(10);

  // Borrows the monitors.
  explicit DeviceReadings(std::vector<DeviceMonitor*> monitors) : monitors_(std::move(monitors)) {}

  // Reads again if the last time is at least kReadEvery before `now` (Clock::SteadyNow() scale).
  // Devices without readings are omitted; ordered by device_id.
  const std::vector<v1::DeviceReading>& At(absl::Time now);

 private:
  const std::vector<DeviceMonitor*> monitors_;
  absl::Time read_at_ = absl::InfinitePast();
  std::vector<v1::DeviceReading> readings_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_READINGS_H_
