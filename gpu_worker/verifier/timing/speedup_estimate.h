#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_SPEEDUP_ESTIMATE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_SPEEDUP_ESTIMATE_H_

#include <optional>
#include <vector>

#include "gpu_worker/verifier/timing/statistics.h"
#include "proto/result.pb.h"

namespace ksearch {

// For each workload, LogRatio::guard_factor; absent if the workload is ranked. Empty: all are
// ranked. At least one must be ranked.
using GuardFactors = std::vector<std::optional<double>>;

// Whether what a side gains by having started first in a launch is part of the launches' scatter.
enum class StartOrder {
  kScatter,  // as any other luck of a launch
  // The rival starts first in launches 0, 2, 4..., the candidate in the others, and the estimate
  // does without the difference. On GPUs the second process to open the device had calls up to 0.1
  // us longer or shorter (docs/internals/benchmarks.md), the same in all launches, which is more
  // than 1 % of a short call.
  kRemoved,
};

// Estimates the speed-up from the launches of a confirmation. A launch (one pair of processes) is
// one observation: the median of its blocks, so that a block during a pause of the machine does not
// affect it. The mean over n launches has an interval by Student's t with n - 1 degrees of freedom.
// The interval is valid however the noise divides into noise between and within launches, because
// the launches' scatter contains both. Luck with addresses affects all workloads of a launch, so
// the combined value of a launch is the mean over its ranked workloads. Each bound is one-sided at
// `confidence`. Every workload must have at least 1 launch; with a single launch the scatter is
// unknown, and the interval is infinite. If some workloads have more launches than others, the
// combined value uses only the first launches, which all workloads have.
// With StartOrder::kRemoved the value is the mean of both orders' means, the scatter is that within
// the orders, which has n - 2 degrees of freedom, and two launches are too few for an interval.
SpeedupEstimate EstimateSpeedup(const std::vector<LaunchBlocks>& workloads, double confidence,
                                const GuardFactors& guards = {},
                                StartOrder start_order = StartOrder::kScatter);

// The numbers of launches after which the results are looked at, increasing; the last is
// `most_launches`. Measuring ends at the first look that is settled.
std::vector<int> InterimLooks(int most_launches);

// The confidence of the bounds at each look, such that all `looks` together err no more often than
// a single one at `confidence`: the looks share the error equally (Bonferroni).
double ConfidenceOfLook(double confidence, int looks);

// With fewer launches the interval is too wide to be useful.
inline constexpr size_t kLeastWholeLaunches = 3;

// Returns true if no further launches are needed. False while the verdict is undecided, and while
// an improved program may still turn out MIXED: a workload's mean is beyond the allowed regression,
// but its interval is not yet.
bool IsSettled(const SpeedupEstimate& estimate, v1::Comparison::Verdict verdict,
               double worst_regression);

// The order in which a launch goes through the workloads, by index: those with the worst results so
// far come first, because only a certain regression on one of them can settle the verdict before
// the launch is over. The natural order if there is no launch yet.
std::vector<size_t> DecidingFirst(const std::vector<LaunchBlocks>& workloads);

// Returns true if one more launch of workloads[index] alone, with these `blocks`, settles that the
// verdict cannot be an improvement: that workload certainly regresses, and the combined value can
// be judged. False until every workload has kLeastWholeLaunches.
bool DecidesAlone(const std::vector<LaunchBlocks>& workloads, size_t index,
                  const std::vector<double>& blocks, double confidence, double min_effect,
                  double worst_regression, const GuardFactors& guards = {});

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_SPEEDUP_ESTIMATE_H_
