#ifndef KSEARCH_TESTS_FAKES_EVENTUALLY_H_
#define KSEARCH_TESTS_FAKES_EVENTUALLY_H_

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ksearch {

// For tests with real threads: true as soon as `condition` holds, false if it does not within
// `limit`.
inline bool Eventually(absl::FunctionRef<bool()> condition,
                       absl::Duration limit = absl::Seconds(20)) {
  const absl::Time deadline = absl::Now() + limit;
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return true;
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_EVENTUALLY_H_
