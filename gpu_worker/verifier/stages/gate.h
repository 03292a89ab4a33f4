#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_GATE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_GATE_H_

#include "absl/status/status.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

// The correctness gate on every workload, in a runner that has loaded the candidate. The first
// failure is the job's; what follows is checked only if the plan says so.
absl::Status CheckWorkloads(RunnerLink& link, JudgedJob* job);

// For a CONFIRM, after the gate: checks the hidden cases, whose inputs differ in kind from the
// recipes'.
absl::Status CheckHiddenCases(RunnerLink& link, JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_GATE_H_
