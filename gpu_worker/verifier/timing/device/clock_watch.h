#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_CLOCK_WATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_CLOCK_WATCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gpu_worker/verifier/timing/device/clock_reader.h"

namespace ksearch {

// Tells whether the GPU's clocks are fit for measuring: steady after a warm-up, and not reduced by
// heat or power limits while timing. One per measurement of a workload. Without a reader, or if it
// fails, clocks count as fit and nothing is recorded. Thread-compatible.
class ClockWatch {
 public:
  // `reader` may be null. `pause` waits that long, wall clock.
  ClockWatch(ClockReader* reader, const Clock& clock, std::function<void(absl::Duration)> pause)
      : reader_(reader), clock_(clock), pause_(std::move(pause)) {}

  // To be called repeatedly while the device is under load: whether the mean clocks of the last two
  // windows of kClockWindow differ by less than kSteadyClock.
  bool Steady();

  enum class Fit {
    kGood,
    kThrottled,  // the last measurement does not count; this has paused
    kDegraded,   // kMaxThrottled times in a row: the device is not fit for measuring
  };
  // To be called after each timed batch.
  Fit Judge();

  // For the timed batches that count: median clock, and all event reasons seen.
  double median_mhz() const;
  uint64_t reasons() const { return reasons_; }

 private:
  struct Window {
    absl::Time start;
    double sum_mhz = 0;
    int readings = 0;
  };

  ClockReader* const reader_;
  const Clock& clock_;
  const std::function<void(absl::Duration)> pause_;
  std::vector<Window> windows_;
  std::vector<double> good_mhz_;
  uint64_t reasons_ = 0;
  int throttled_ = 0;  // in a row
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_CLOCK_WATCH_H_
