#ifndef KSEARCH_GPU_WORKER_PROFILE_NCU_METRICS_H_
#define KSEARCH_GPU_WORKER_PROFILE_NCU_METRICS_H_

#include <vector>

#include "proto/profile.pb.h"

namespace ksearch {

// One metric that Nsight Compute is asked for, and the field for its number. Only metrics that ncu
// 2025.3 was seen to report on an H200: a single unknown one makes it profile nothing at all.
struct NcuMetric {
  // How the numbers of several launches are combined.
  enum Merge {
    kMean,           // counts: mean of the launches
    kTimeWeighted,   // ratios: weighted by the launches' durations
    kLongestLaunch,  // properties of the launch
  };
  const char* name;
  Merge merge;
  void (*set)(double value, v1::KernelProfile* kernel);
  // May be absent: it does not exist on every device, or another metric replaces it.
  bool optional = false;
};

inline constexpr char kNcuDurationMetric[] = "gpu__time_duration.sum";
// Warps waiting for REASON per issued instruction: kNcuStallPrefix REASON kNcuStallSuffix. Its
// share of the sum over all reasons is the share of the warps' time.
inline constexpr char kNcuStallPrefix[] = "smsp__average_warps_issue_stalled_";
inline constexpr char kNcuStallSuffix[] = "_per_issue_active.ratio";

// In the order in which they are requested; without the duration and the stalls.
const std::vector<NcuMetric>& NcuMetrics();
// Includes "selected", the reason of a warp that issues.
const std::vector<const char*>& NcuStallReasons();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_PROFILE_NCU_METRICS_H_
