#include "gpu_worker/verifier/checker.h"

#include <optional>
#include <utility>

#include "common/digest.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/sampling_check.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"

namespace ksearch {

bool IsVerdictOnACall(const Ending& ending) {
  return ending.outcome == v1::OUTCOME_INCORRECT || ending.outcome == v1::OUTCOME_OUT_OF_BOUNDS ||
         ending.outcome == v1::OUTCOME_INPUT_MODIFIED;
}

absl::StatusOr<v1::WorkloadResult> CheckWorkload(
    Bench& bench, RunnerLink& link, const std::shared_ptr<const WorkloadCase>& workload,
    const OracleEntries& oracles, const OracleEntries& trials,
    const WorkloadSession::Limits& limits, Ending* ended) {
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers, bench.Buffers(workload, 1, "gate"));
  WorkloadSession session(link, workload, std::move(buffers), bench.clock(), RandomUint64());
  Ending ending = session.Map(1, limits);
  const auto call = [&](int64_t variant, const OracleEntries& known) {
    Ending next = session.Run({{0, variant}}, WorkloadSession::Mode::kGate, known, limits).ending;
    const bool goes_on = next.passed() || IsVerdictOnACall(next);
    if (ending.passed()) ending = std::move(next);
    return goes_on;
  };
  const int64_t wanted = SuiteTrials(*workload);
  bool goes_on = ending.passed();
  for (int64_t variant = 0; variant < kGateVariants && goes_on; ++variant) {
    if (ending.passed() || variant < wanted) goes_on = call(variant, oracles);
  }
  for (int64_t trial = kGateVariants; trial < wanted && goes_on; ++trial) {
    const int64_t variant = kFirstTrialVariant + trial;
    if (trials.contains(variant)) goes_on = call(variant, trials);
  }
  std::optional<v1::SuiteVerdict> verdict = session.suite_verdict();
  if (ending.passed() && workload->suite_rule().rule() == v1::SuiteRule::SAMPLES) {
    if (!verdict.has_value()) verdict.emplace();
    ASSIGN_OR_RETURN(ending, CheckSampling(bench, link, workload, limits, &*verdict));
  }
  v1::WorkloadResult result;
  result.set_workload_uuid(workload->uuid());
  for (int input = 0; input < workload->inputs(); ++input) {
    if (!workload->generator(input).repeats()) continue;
    result.add_repeated_inputs(workload->tensors()[static_cast<size_t>(input)].name);
  }
  result.set_outcome(ending.outcome);
  result.set_message(CleanText(ending.message, kMaxMessageBytes));
  if (session.correctness().has_value()) *result.mutable_correctness() = *session.correctness();
  if (verdict.has_value()) {
    verdict->set_message(CleanText(verdict->message(), kMaxMessageBytes));
    *result.mutable_suite_verdict() = *std::move(verdict);
  }
  *ended = std::move(ending);
  return result;
}

}  // namespace ksearch
