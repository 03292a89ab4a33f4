#ifndef KSEARCH_COMMON_MEASURE_DEFAULTS_H_
#define KSEARCH_COMMON_MEASURE_DEFAULTS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "proto/job.pb.h"

namespace ksearch {

// Defaults of MeasurePlan and Limits. Coordinator and worker share them: plan and limits are part
// of a job's identity, so the coordinator fills every field before it names the job, and a verifier
// fills the same values into a job written by hand.

// Screening. A median is known to +-1 % after about 25 calls on a machine with 2 % noise per call;
// 0.25 s a workload keeps five workloads under 1.5 s.
inline constexpr double kDefaultTargetHalfWidth = 0.01;
inline constexpr absl::Duration kDefaultMaxTimePerWorkload = absl::Milliseconds(250);
inline constexpr int kDefaultMinCalls = 10;
inline constexpr int kDefaultMaxCalls = 200;

// On a GPU, a search judges a candidate this many times slower than the baseline by a few calls.
inline constexpr double kSearchEarlyStopRatio = 5;

// Confirmation. A launch samples code placement and allocator layout, which differ between
// processes by more than calls do within one: many launches of few blocks tell more than the same
// time in few launches. With 8, at 97.5 %, programs that differ by less than 1 % are separated from
// those that differ by 2 % if launches scatter by 0.6 % (docs/internals/benchmarks.md,
// "Intervals"). Three blocks are the fewest whose median a single pause of the machine does not
// move.
inline constexpr int kDefaultLaunches = 8;
// On processors, where launches scatter by some percent and a launch costs more than its blocks do:
// two more would make an interval narrower by a seventh.
inline constexpr int kDefaultLaunchesOnProcessors = 6;
inline constexpr int kDefaultBlocksPerLaunch = 3;
inline constexpr absl::Duration kDefaultMinBlockTime = absl::Milliseconds(5);
inline constexpr double kDefaultMinEffect = 0.01;
inline constexpr double kDefaultConfidence = 0.975;

inline constexpr absl::Duration kDefaultBuildTime = absl::Seconds(60);
inline constexpr absl::Duration kDefaultCallTime = absl::Seconds(5);
inline constexpr absl::Duration kDefaultTotalTime = absl::Seconds(120);
inline constexpr int64_t kDefaultMemoryBytes = int64_t{4} << 30;
inline constexpr int64_t kDefaultSourceBytes = int64_t{256} << 10;
inline constexpr int64_t kDefaultArtifactBytes = int64_t{16} << 20;

// The same message with every field that was absent set to its default, which for launches depends
// on the device; early_stop_ratio stays.
v1::MeasurePlan WithDefaults(v1::MeasurePlan plan,
                             v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED);
v1::Limits WithDefaults(v1::Limits limits);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MEASURE_DEFAULTS_H_
