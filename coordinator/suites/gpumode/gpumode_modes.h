#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_MODES_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_MODES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The modes of upstream's eval.py: `test` checks every case of `tests` and times nothing,
// `benchmark` times the benchmarks, and `leaderboard` times them with new inputs for every call and
// checks every call. As in upstream's service, a leaderboard that is ranked by its last benchmark
// runs only that one. INVALID_ARGUMENT: there is no such mode, or the problem has no case for it.
absl::Status SetGpuModeMode(const GpuModeProblem& problem, const std::string& mode,
                            v1::EvaluateRequest* request);

// Returns the score by which a leaderboard would rank a result. Absent unless the result is of mode
// leaderboard and every benchmark that counts was timed.
std::optional<v1::SuiteScore> LeaderboardScore(const GpuModeProblem& problem,
                                               const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_MODES_H_
