#ifndef KSEARCH_COMMON_CLOCK_H_
#define KSEARCH_COMMON_CLOCK_H_

#include "absl/time/time.h"

namespace ksearch {

// The source of time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock; may jump. For records that people read.
  virtual absl::Time Now() const = 0;
  // Monotonic, from an arbitrary origin. For deadlines and leases.
  virtual absl::Time SteadyNow() const = 0;

  // The real clock; it is never destroyed.
  static const Clock& Real();
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CLOCK_H_
