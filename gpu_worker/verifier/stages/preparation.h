#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_PREPARATION_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_PREPARATION_H_

#include "absl/status/status.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

// Before the candidate is loaded: draws the job's cases and has the reference answer them, as many
// variants as the job's kind needs. INVALID_ARGUMENT: the request is not one that can be carried
// out.
absl::Status PrepareJob(JudgedJob* job);

// Tries the programs that the candidate is compared with. TaskFault if one of them is wrong.
absl::Status TryTrustedPrograms(JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_PREPARATION_H_
