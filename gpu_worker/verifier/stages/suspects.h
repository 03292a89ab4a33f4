#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_SUSPECTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_SUSPECTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

using Suspects = std::vector<std::pair<size_t, WorkloadSession::Suspect>>;  // by case

// Compares outputs of timed calls with oracles that are computed now; the first wrong one fails the
// job. No candidate may be loaded.
absl::Status JudgeSuspects(const Suspects& suspects, JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_SUSPECTS_H_
