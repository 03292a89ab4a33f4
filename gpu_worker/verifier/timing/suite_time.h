#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_SUITE_TIME_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_SUITE_TIME_H_

#include <vector>

#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "proto/result.pb.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// How many of these calls (times in microseconds) count by the clock's rule for when to stop; 0:
// the rule does not stop yet, and more calls follow.
size_t CallsThatCount(const std::vector<double>& calls_us, const v1::SuiteClock& clock);

// The preparation before each call, if `sets` sets are mapped.
v1::BatchRequest::Preparation PreparationOf(const v1::SuiteClock& clock, int sets);

// The suite's time for calls on one input variant, in microseconds.
v1::SuiteTime TimeOfCalls(const std::vector<double>& calls_us);

// Times the session's program, with `sets` sets mapped, as the clock says. What the program does
// during this is not checked: only an ending other than PASSED says something about it, and then
// *time is empty.
Ending TimeAsSuite(WorkloadSession& session, const v1::SuiteClock& clock, int sets,
                   const WorkloadSession::Limits& limits, v1::SuiteTime* time);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_SUITE_TIME_H_
