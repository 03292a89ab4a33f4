#ifndef KSEARCH_GPU_WORKER_VERIFIER_CHECKER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CHECKER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/result.pb.h"

namespace ksearch {

// Whether this says that a call was wrong, so that the process that made it can make another.
bool IsVerdictOnACall(const Ending& ending);

// The correctness gate on one workload: kGateVariants variants through the same buffers, each with
// freshly poisoned outputs, guard bands and inputs checked, outputs compared with the oracle; then
// those of `trials`, the further ones that the rule of the task's suite looks at. They are made for
// that rule also after a call that is wrong here. The result's outcome is PASSED or the first
// failure. Non-OK if the machine has no memory for it.
absl::StatusOr<v1::WorkloadResult> CheckWorkload(
    Bench& bench, RunnerLink& link, const std::shared_ptr<const WorkloadCase>& workload,
    const OracleEntries& oracles, const OracleEntries& trials,
    const WorkloadSession::Limits& limits, Ending* ended);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CHECKER_H_
