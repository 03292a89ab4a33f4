#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_HIDDEN_BATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_HIDDEN_BATCH_H_

#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"

namespace ksearch {

// In a confirmation, before or after one of the side's blocks on this workload, which one is
// random: the `blocks_left` that are left are equally likely. If a hidden case is to come up, a
// batch of up to `calls` calls, fewer if there are not enough sets, whose inputs are all of that
// kind; one of the candidate's is compared. The rival makes as many calls on its usual inputs, for
// nobody to look at: it is not on trial. Counts for no time.
Ending MaybeRunHiddenBatch(ConfirmationSide* side, int calls,
                           const WorkloadSession::BatchForm& form, int blocks_left,
                           const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_HIDDEN_BATCH_H_
