#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_PROGRAMS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_PROGRAMS_H_

#include <functional>

#include "absl/status/status.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Has the warm stage (warm_stage.h) of all programs of a request that want one, the task's own
// first, and replaces their artifacts by what it made of them. A candidate that fails in it has its
// outcome in *verdict, which is PASSED else and has its kernels. The task's own programs that fail,
// and rivals, are a TaskFault; other errors are trouble of the machine or the request. `begins` is
// called before each stage. An ending that may not be the candidate's own doing is tried again.
absl::Status WarmPrograms(Bench& bench, const std::function<void()>& begins,
                          v1::VerifierRequest* request, v1::Verdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_PROGRAMS_H_
