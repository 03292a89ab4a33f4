#ifndef KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/hidden_answers.h"
#include "gpu_worker/verifier/timing/bench.h"

namespace ksearch {

// Returns true if the case is compared within a series of calls that look like timed ones. True on
// CPUs, except for the workspace case. Like a timing, it then needs a process that has not run the
// gate.
bool IsLikeTimed(Bench& bench, const AnsweredHiddenCase& hidden);

// Makes calls of a candidate with the hidden case's inputs and compares one of them. On CPUs this
// is a random call of a session that looks like a timed one: equally many sets, a random number of
// calls before it, batches of random length. On a GPU there is one set and there are fewer calls
// before it. In the workspace case it is the first and only call. Non-OK if the machine is out of
// memory.
absl::StatusOr<Ending> CheckHiddenCase(Bench& bench, RunnerLink& link,
                                       const AnsweredHiddenCase& hidden,
                                       const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HIDDEN_CHECK_H_
