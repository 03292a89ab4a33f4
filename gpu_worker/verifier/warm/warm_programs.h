#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_PROGRAMS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_PROGRAMS_H_

#include <functional>

#include "absl/status/status.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Runs the warm stage (warm_stage.h) of all programs of a request that need one, the task's own
// first, and replaces their artifacts by the resulting ones. If the candidate fails in it, *verdict
// has its outcome; otherwise *verdict is PASSED and lists its kernels. A failure of the task's own
// programs or of a rival is a TaskFault; other errors are those of the machine or the request.
// `begins` is called before each stage. If something other than the candidate may have caused an
// ending, the stage is tried again.
absl::Status WarmPrograms(Bench& bench, const std::function<void()>& begins,
                          v1::VerifierRequest* request, v1::Verdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_PROGRAMS_H_
