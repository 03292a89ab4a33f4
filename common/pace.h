#ifndef KSEARCH_COMMON_PACE_H_
#define KSEARCH_COMMON_PACE_H_

#include <cstdint>

#include "absl/time/time.h"
#include "common/rng.h"

namespace ksearch {

// Spaces the repetitions of an action that each of many processes must take at least once per
// interval (reports, heartbeats, dialing), so that the processes do not act at the same moments,
// even if they started together. Thread-compatible.
class Pace {
 public:
  explicit Pace(uint64_t seed) : rng_(seed) {}

  // The first wait: a random part of the interval, which spreads processes that started together
  // over all of it.
  absl::Duration First(absl::Duration interval) { return interval * rng_.NextDouble(); }
  // Each later wait: up to a fifth shorter than the interval, so that processes that coincide once
  // do not keep doing so.
  absl::Duration Next(absl::Duration interval) {
    return interval * (0.8 + 0.2 * rng_.NextDouble());
  }

 private:
  Rng rng_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PACE_H_
