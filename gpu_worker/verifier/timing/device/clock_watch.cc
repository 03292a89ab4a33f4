#include "gpu_worker/verifier/timing/device/clock_watch.h"

#include <cmath>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

bool ClockWatch::Steady() {
  if (reader_ == nullptr) return true;
  const absl::StatusOr<ClockReading> reading = reader_->Read();
  if (!reading.ok()) return true;
  const absl::Time now = clock_.SteadyNow();
  if (windows_.empty() || now - windows_.back().start >= kClockWindow) {
    windows_.push_back({now, 0, 0});
  }
  windows_.back().sum_mhz += reading->sm_mhz;
  ++windows_.back().readings;
  // The last window is still being filled.
  if (windows_.size() < 3) return false;
  const Window& one = windows_[windows_.size() - 3];
  const Window& two = windows_[windows_.size() - 2];
  const double first = one.sum_mhz / one.readings, second = two.sum_mhz / two.readings;
  return std::abs(first - second) <= kSteadyClock * second;
}

ClockWatch::Fit ClockWatch::Judge() {
  if (reader_ == nullptr) return Fit::kGood;
  const absl::StatusOr<ClockReading> reading = reader_->Read();
  if (!reading.ok()) return Fit::kGood;
  const bool slow = !good_mhz_.empty() && reading->sm_mhz < kLeastClock * Median(good_mhz_);
  if ((reading->reasons & kThrottleReasons) == 0 && !slow) {
    throttled_ = 0;
    good_mhz_.push_back(reading->sm_mhz);
    reasons_ |= reading->reasons;
    return Fit::kGood;
  }
  if (++throttled_ > kMaxThrottled) return Fit::kDegraded;
  pause_(kThrottlePause);
  return Fit::kThrottled;
}

double ClockWatch::median_mhz() const { return Median(good_mhz_); }

}  // namespace ksearch
