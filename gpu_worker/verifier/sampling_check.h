#ifndef KSEARCH_GPU_WORKER_VERIFIER_SAMPLING_CHECK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_SAMPLING_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/result.pb.h"

namespace ksearch {

// SuiteRule::SAMPLES for a program whose calls passed the gate: checks that it draws tokens by
// their probabilities. First on inputs that differ from call to call: by ksearch's own rule, the
// places of tokens among those that may be drawn must be uniform, up to most_distance and chance.
// Then on equal inputs, as upstream does: by how often each token came. If there is no time for all
// tokens that the rule asks for, the distance is extrapolated from those that were drawn, using the
// distance that chance causes for either number; ksearch's own rule subtracts the part due to
// chance. Adds one trial to *verdict. The ending is PASSED, INCORRECT, or that of a call that
// failed. Non-OK if the machine is out of memory.
absl::StatusOr<Ending> CheckSampling(Bench& bench, RunnerLink& link,
                                     const std::shared_ptr<const WorkloadCase>& workload,
                                     const WorkloadSession::Limits& limits,
                                     v1::SuiteVerdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_SAMPLING_CHECK_H_
