#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_SCREENING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_SCREENING_H_

#include <memory>

#include "absl/status/status.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

// Returns true if the candidate is also timed by the clock of the task's suite.
bool TimesAsSuite(const JudgedJob& job);

// For a SCREEN, after the gate: times the candidate on every workload, also as its suite does, and
// judges what timed calls wrote. *link is replaced if the candidate needs a new process.
absl::Status TimeCandidate(std::unique_ptr<RunnerLink>* link, JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_SCREENING_H_
