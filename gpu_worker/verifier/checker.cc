#include "gpu_worker/verifier/checker.h"

#include <utility>

#include "common/digest.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {

absl::StatusOr<v1::WorkloadResult> CheckWorkload(
    Bench& bench, RunnerLink& link, const std::shared_ptr<const WorkloadCase>& workload,
    const OracleEntries& oracles, const WorkloadSession::Limits& limits, Ending* ended) {
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers, bench.Buffers(workload, 1, "gate"));
  WorkloadSession session(link, workload, std::move(buffers), bench.clock(), RandomUint64());
  Ending ending = session.Map(1, limits);
  for (int64_t variant = 0; variant < kGateVariants && ending.passed(); ++variant) {
    ending = session.Run({{0, variant}}, WorkloadSession::Mode::kGate, oracles, limits).ending;
  }
  v1::WorkloadResult result;
  result.set_workload_uuid(workload->uuid());
  result.set_outcome(ending.outcome);
  result.set_message(CleanText(ending.message, kMaxMessageBytes));
  if (session.correctness().has_value()) *result.mutable_correctness() = *session.correctness();
  *ended = std::move(ending);
  return result;
}

}  // namespace ksearch
