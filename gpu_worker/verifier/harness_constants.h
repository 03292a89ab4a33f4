#ifndef KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace ksearch {

// Constants of checking and timing that are no part of a job (those are in
// common/measure_defaults.h). A change of any of them changes what numbers mean: raise
// harness_version of the device fingerprint with it.

// Contents that are compared with the oracle. 0 and 1 go through the same buffers in the
// correctness gate, so that answers remembered by address are wrong; the others hide among timed
// calls. More cost more reference runs, which are shared by all candidates of a task.
inline constexpr int kGateContents = 2;
inline constexpr int kMinTimedOracles = 1;
inline constexpr int kMaxTimedOracles = 6;
// Time one workload may spend on reference runs for timed calls.
inline constexpr absl::Duration kOracleTimePerWorkload = absl::Milliseconds(300);
// Timed calls without an oracle take contents from here on, each once.
inline constexpr int64_t kFirstFreshContent = 1000;

// Buffer sets: R = clamp(ceil(3 * LLC / footprint) + 1, 2, 64), so that a set is out of the last
// level cache when its turn comes again.
inline constexpr int kCacheMultiples = 3;
inline constexpr int kMinSets = 2;
inline constexpr int kMaxSets = 64;

// Warm-up: at least this many calls and this long, wall clock.
inline constexpr int kWarmUpCalls = 3;
inline constexpr absl::Duration kWarmUpTime = absl::Milliseconds(50);
inline constexpr int kConfirmWarmUpCalls = 2;
inline constexpr absl::Duration kConfirmWarmUpTime = absl::Milliseconds(15);
// A workload may take this many times its measuring time, counting preparation and checks.
inline constexpr double kWallPerMeasureTime = 2.5;

// Audit: the verifier's clock beyond this multiple of the runner's clock, plus the allowances
// below, means that work escaped the runner's clock.
inline constexpr double kMaxAuditRatio = 1.25;
// For the loop around a call, and for a GO: so many times the 90 % quantile of idle round trips
// measured in between, plus a constant.
inline constexpr absl::Duration kAuditPerCall = absl::Microseconds(1);
inline constexpr double kAuditRoundTrips = 1.5;
inline constexpr absl::Duration kAuditPerGo = absl::Microseconds(20);
// A shared machine may be busy for a while: a workload is measured again before it is called
// forged.
inline constexpr int kAuditAttempts = 3;

// More than this share of calls beyond 1.5x the median: `unstable`.
inline constexpr double kUnstableShare = 0.05;
inline constexpr double kUnstableFactor = 1.5;

// Confirmation.
inline constexpr int kBootstrapDraws = 10'000;
// A workload whose whole interval lies below this bars "improved".
inline constexpr double kWorstRegression = 0.03;
inline constexpr int kMaxGosPerBlock = 16;
// Both sides meet the same cache, so fewer sets do; mapping them costs more than calling.
inline constexpr int kMaxConfirmSets = 16;
// Fixed beforehand: when in each of this many launches every workload is this much faster, or every
// one this much slower, further launches are spared.
inline constexpr int kClearLaunches = 2;
inline constexpr double kClearRatio = 1.5;

// Bytes kept between jobs: drawn inputs, oracles. Buffers keep at most max_rotation_bytes.
inline constexpr int64_t kCaseCacheBytes = int64_t{512} << 20;
inline constexpr int64_t kOracleCacheBytes = int64_t{512} << 20;

inline constexpr int64_t kMaxMessageBytes = 2048;
inline constexpr int64_t kMaxStderrBytes = int64_t{8} << 10;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HARNESS_CONSTANTS_H_
