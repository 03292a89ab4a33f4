#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_GPU_TIMING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_GPU_TIMING_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/timing/device/clock_reader.h"
#include "gpu_worker/verifier/timing/device/roofline.h"

namespace ksearch {

// The requirements of timing on a GPU besides runners.
struct GpuTiming {
  std::shared_ptr<ClockReader> clocks;  // null: clocks are not monitored
  DevicePeaks peaks;
  // Runs a small kernel of the verifier's own, to see whether the device still works after a
  // candidate was killed on it. Non-OK if it does not.
  std::function<absl::Status()> probe = [] { return absl::OkStatus(); };
  // The time of a small copy from the host to the device and back (cuda/host_copies.h).
  std::function<absl::StatusOr<absl::Duration>()> copy = [] { return absl::ZeroDuration(); };
  std::function<void(absl::Duration)> pause = [](absl::Duration time) { absl::SleepFor(time); };
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_GPU_TIMING_H_
