#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_LATE_BATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_LATE_BATCH_H_

#include <functional>
#include <vector>

#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {

// As WorkloadSession::RunWithLateInputs.
using LateRun = std::function<Ending(const std::vector<WorkloadSession::Call>&, bool* seen)>;

// Batches of up to `calls` calls, fewer if there are not enough sets, with late inputs: until these
// were early enough once, which *seen tells, kLateInputTries at most. None if a batch can have but
// one call. No batch counts for any time.
Ending RunLateBatch(CallDealer& dealer, int calls, const LateRun& run, bool* seen);

// In a confirmation, before or after one of the side's blocks on this workload, which one is
// random: the `blocks_left` that are left are equally likely. None once the side needs no more.
Ending MaybeRunLateBatch(ConfirmationSide* side, int calls, const WorkloadSession::BatchForm& form,
                         int blocks_left, const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_LATE_BATCH_H_
