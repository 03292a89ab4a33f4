#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_RIVAL_COMPARISON_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_RIVAL_COMPARISON_H_

#include "absl/status/status.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

// For a CONFIRM, with no candidate loaded: compares the candidate with each rival side by side
// (timing/confirmation.h), and judges what timed calls wrote.
absl::Status CompareWithRivals(JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_RIVAL_COMPARISON_H_
