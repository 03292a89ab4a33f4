#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_LATE_BATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_LATE_BATCH_H_

#include <functional>
#include <vector>

#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {

// The signature of WorkloadSession::RunWithLateInputs.
using LateRun = std::function<Ending(const std::vector<WorkloadSession::Call>&, bool* seen)>;

// Runs batches of up to `calls` calls (fewer if there are not enough sets) with late inputs, until
// these arrived in time once (*seen), but at most kLateInputTries batches. Runs none if a batch can
// have only one call. The batches are not timed.
Ending RunLateBatch(CallDealer& dealer, int calls, const LateRun& run, bool* seen);

// The late batch of a confirmation, at one random block of the side on this workload. Does nothing
// once the side needs no more.
Ending MaybeRunLateBatch(ConfirmationSide* side, int calls, const WorkloadSession::BatchForm& form,
                         const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_LATE_BATCH_H_
