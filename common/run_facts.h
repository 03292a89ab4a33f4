#ifndef KSEARCH_COMMON_RUN_FACTS_H_
#define KSEARCH_COMMON_RUN_FACTS_H_

#include <optional>
#include <string>

#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Facts about runs and results that coordinator and command line must see alike.

// Nothing more will happen in the run unless it is resumed.
bool HasEnded(v1::RunState state);

// "compile_error": an outcome as people read it.
std::string OutcomeWord(v1::Outcome outcome);

// The program did not come to run.
bool IsBuildFailure(v1::Outcome outcome);

// Name of the task's baseline among the rivals of a confirmation.
inline constexpr char kBaselineRival[] = "baseline";

// The comparison with that rival, or with the baseline; null: there is none.
const v1::Comparison* FindComparison(const v1::JobResult& result, const std::string& rival_id);
const v1::Comparison* OverBaseline(const v1::JobResult& result);

// Geometric mean over the result's workloads of baseline / candidate (medians); absent unless every
// workload, and at least one, has both timings.
std::optional<double> SpeedupOverBaseline(const v1::JobResult& result);

// "6.42x [6.31, 6.55] at 95 %": a ratio, its interval, and how often such an interval covers the
// truth, rounded down. `confidence`: of each bound, one-sided; 0, unknown, leaves the level out.
std::string RatioText(double ratio, double low, double high, double confidence);
std::string RatioText(const v1::Comparison& comparison);
// "improved: 6.42x [6.31, 6.55] at 95 %".
std::string VerdictText(const v1::Comparison& comparison);

// The result of a PROFILE job: kernels, or otherwise a reason why there are none, in `absence` and
// `note`.
v1::Profile ProfileIn(const v1::JobResult& profiled);

// Uuid of the workload on which the candidate took longest; empty if none was timed.
std::string SlowestWorkload(const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_RUN_FACTS_H_
