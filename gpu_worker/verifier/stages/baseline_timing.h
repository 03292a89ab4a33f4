#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_BASELINE_TIMING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_BASELINE_TIMING_H_

#include "absl/status/status.h"
#include "gpu_worker/verifier/stages/judged_job.h"

namespace ksearch {

// Whether the baseline's times on all cases are known and recent.
bool HasBaselineTimings(const JudgedJob& job);

// Times the baseline where its times are not known, before the candidate is there: it could slow
// the baseline down. Nothing to do for a job without one. TaskFault if it fails.
absl::Status TimeBaseline(JudgedJob* job);

// For a BASELINE: puts the timings into the verdict's workloads.
void ReportBaselines(JudgedJob* job);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_BASELINE_TIMING_H_
