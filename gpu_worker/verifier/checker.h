#ifndef KSEARCH_GPU_WORKER_VERIFIER_CHECKER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CHECKER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/result.pb.h"

namespace ksearch {

// Returns true if the ending only says that a call's result was wrong, so that its process can make
// further calls.
bool IsVerdictOnACall(const Ending& ending);

// The correctness gate on one workload. kGateVariants variants run through the same buffers; each
// time, outputs are poisoned first, guard bands and inputs are checked, and outputs are compared
// with the oracle. Then come the variants of `trials`, the additional ones that the rule of the
// task's suite requires; these run even if an earlier call was wrong by ksearch's rule. The
// result's outcome is PASSED or the first failure. Non-OK if the machine is out of memory.
absl::StatusOr<v1::WorkloadResult> CheckWorkload(
    Bench& bench, RunnerLink& link, const std::shared_ptr<const WorkloadCase>& workload,
    const OracleEntries& oracles, const OracleEntries& trials,
    const WorkloadSession::Limits& limits, Ending* ended);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CHECKER_H_
