#ifndef KSEARCH_TESTS_FAKES_FAKE_CLOCK_H_
#define KSEARCH_TESTS_FAKES_FAKE_CLOCK_H_

#include "common/clock.h"
#include "common/mutex.h"

namespace ksearch {

// Advances only on request. Both clocks advance together. Thread-safe.
class FakeClock final : public Clock {
 public:
  absl::Time Now() const override {
    MutexLock lock(&mu_);
    return now_;
  }
  absl::Time SteadyNow() const override { return Now(); }
  void Advance(absl::Duration by) {
    MutexLock lock(&mu_);
    now_ += by;
  }

 private:
  mutable Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1'700'000'000);
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_CLOCK_H_
