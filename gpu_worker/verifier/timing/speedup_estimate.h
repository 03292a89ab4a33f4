#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_SPEEDUP_ESTIMATE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_SPEEDUP_ESTIMATE_H_

#include <optional>
#include <vector>

#include "gpu_worker/verifier/timing/statistics.h"
#include "proto/result.pb.h"

namespace ksearch {

// For each workload the factor of LogRatio::guard_factor, absent where it is ranked. Empty: all are
// ranked. At least one is.
using GuardFactors = std::vector<std::optional<double>>;

// What the launches of a confirmation say. A launch, one pair of processes, is one observation: it
// counts with the median of its blocks, so that a block that met a pause of the machine does not
// move it. The mean over n launches has an interval by Student's t with n - 1 degrees of freedom,
// which holds whatever share of the noise is between launches and whatever within them, because the
// launches' own scatter has both in it. A launch's luck with addresses touches all workloads, so
// the combined value of a launch is the mean over its ranked workloads.
// Bounds are one-sided at `confidence` each. Every workload has at least 1 launch; of one launch
// nothing is known of the scatter, and the interval is infinite. If some workloads have more
// launches than others, the combined value is of the first ones, which all of them have.
SpeedupEstimate EstimateSpeedup(const std::vector<LaunchBlocks>& workloads, double confidence,
                                const GuardFactors& guards = {});

// After how many launches the results are looked at, rising; the last is `most_launches`.
// Measuring ends with the first look that is settled.
std::vector<int> InterimLooks(int most_launches);

// Confidence of the bounds at each look, such that all `looks` together err no more often than one
// at `confidence`: they share the error in equal parts (Bonferroni).
double ConfidenceOfLook(double confidence, int looks);

// The interval of fewer launches is too wide to be worth printing.
inline constexpr size_t kLeastWholeLaunches = 3;

// Whether further launches are spared. Not while undecided, nor while an improved program may be
// MIXED: a workload's mean is beyond the regression allowed, but its interval is not yet.
bool IsSettled(const SpeedupEstimate& estimate, v1::Comparison::Verdict verdict,
               double worst_regression);

// In which order a launch goes through the workloads, by index: those that come off worst so far
// first, since a certain regression on one of them is all that can settle a verdict before the
// launch is over. As they come where there is no launch yet.
std::vector<size_t> DecidingFirst(const std::vector<LaunchBlocks>& workloads);

// Whether the verdict is certain to be no improvement after workloads[index] alone had one more
// launch, of these `blocks`, than is in `workloads`: that workload certainly regresses, and the
// combined value is judged. Not before every workload has kLeastWholeLaunches.
bool DecidesAlone(const std::vector<LaunchBlocks>& workloads, size_t index,
                  const std::vector<double>& blocks, double confidence, double min_effect,
                  double worst_regression, const GuardFactors& guards = {});

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_SPEEDUP_ESTIMATE_H_
