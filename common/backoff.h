#ifndef KSEARCH_COMMON_BACKOFF_H_
#define KSEARCH_COMMON_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"
#include "common/rng.h"

namespace ksearch {

// Exponential backoff with full jitter: the n-th delay is uniform in [0, min(max, first * 2^n)].
// Thread-compatible.
class Backoff {
 public:
  Backoff(absl::Duration first, absl::Duration max, uint64_t seed)
      : first_(first), max_(max), rng_(seed) {}

  absl::Duration Next() {
    const absl::Duration bound =
        std::min(max_, first_ * static_cast<double>(uint64_t{1} << attempt_));
    attempt_ = std::min(attempt_ + 1, 30);
    return bound * rng_.NextDouble();
  }
  void Reset() { attempt_ = 0; }

 private:
  absl::Duration first_;
  absl::Duration max_;
  int attempt_ = 0;
  Rng rng_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_BACKOFF_H_
