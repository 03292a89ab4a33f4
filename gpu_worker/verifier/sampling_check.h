#ifndef KSEARCH_GPU_WORKER_VERIFIER_SAMPLING_CHECK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_SAMPLING_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/result.pb.h"

namespace ksearch {

// SuiteRule::SAMPLES, of a program whose calls passed the gate: whether it draws tokens by their
// probabilities. First on inputs that differ from call to call, where ksearch's own rule asks that
// the places of tokens among those that may be drawn are spread evenly, but for most_distance and
// chance; then on equal inputs, as upstream: how often each token came. Where there is no time for
// all tokens of the rule, their distance is estimated from those that were drawn, by what chance
// makes of both numbers; ksearch's own rule leaves out what chance makes. Adds one trial to
// *verdict. The ending is INCORRECT, or that of a call that failed. Non-OK if the machine has no
// memory for it.
absl::StatusOr<Ending> CheckSampling(Bench& bench, RunnerLink& link,
                                     const std::shared_ptr<const WorkloadCase>& workload,
                                     const WorkloadSession::Limits& limits,
                                     v1::SuiteVerdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_SAMPLING_CHECK_H_
