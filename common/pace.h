#ifndef KSEARCH_COMMON_PACE_H_
#define KSEARCH_COMMON_PACE_H_

#include <cstdint>

#include "absl/time/time.h"
#include "common/rng.h"

namespace ksearch {

// When to do again what must be done at least once in an interval, for one of many that all do it
// (reports, signs of life, dialing): so that they do not act in step, neither when they began
// together nor later. Thread-compatible.
class Pace {
 public:
  explicit Pace(uint64_t seed) : rng_(seed) {}

  // The first wait of a row: anywhere within the interval, which spreads those that began together
  // over all of it.
  absl::Duration First(absl::Duration interval) { return interval * rng_.NextDouble(); }
  // Each later wait: up to a fifth early, so that those that meet do not stay together.
  absl::Duration Next(absl::Duration interval) {
    return interval * (0.8 + 0.2 * rng_.NextDouble());
  }

 private:
  Rng rng_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PACE_H_
