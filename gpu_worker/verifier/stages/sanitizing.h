#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_SANITIZING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_SANITIZING_H_

#include "absl/status/status.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

// Runs compute-sanitizer on the smallest workload, and a second witness for some of its findings.
// Anything that cannot be done is noted and does not fail the job.
absl::Status SanitizeCandidate(JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_SANITIZING_H_
