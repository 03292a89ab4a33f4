#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_HIDDEN_BATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_HIDDEN_BATCH_H_

#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"

namespace ksearch {

// The hidden batch of a confirmation, at one random block of the side on this workload. If a hidden
// case is due, runs a batch of up to `calls` calls (fewer if there are not enough sets) with inputs
// of that kind. One of the candidate's calls is compared. The rival makes as many calls on its
// usual inputs, which are not checked. None of this is timed.
Ending MaybeRunHiddenBatch(ConfirmationSide* side, int calls,
                           const WorkloadSession::BatchForm& form,
                           const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_HIDDEN_BATCH_H_
