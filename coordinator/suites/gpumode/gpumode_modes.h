#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_MODES_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_MODES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The modes of upstream's eval.py: `test` looks at every case of `tests` and times nothing,
// `benchmark` times the benchmarks, `leaderboard` times them on new inputs for every call and looks
// at every call. As upstream's service calls it, leaderboards that are ranked by their last
// benchmark run that one alone. INVALID_ARGUMENT: there is no such mode, or the problem has no case
// for it.
absl::Status SetGpuModeMode(const GpuModeProblem& problem, const std::string& mode,
                            v1::EvaluateRequest* request);

// The score that a leaderboard would rank a result by: absent unless every benchmark that counts
// was timed in the mode leaderboard.
std::optional<v1::SuiteScore> LeaderboardScore(const GpuModeProblem& problem,
                                               const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_MODES_H_
