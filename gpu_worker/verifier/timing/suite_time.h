#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_SUITE_TIME_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_SUITE_TIME_H_

#include <vector>

#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "proto/result.pb.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// How many of these calls, in microseconds, count by the end that the clock sets; 0: none of them
// is the last, further calls follow.
size_t CallsThatCount(const std::vector<double>& calls_us, const v1::SuiteClock& clock);

// What comes before each call, where `sets` sets are mapped.
v1::BatchRequest::Preparation PreparationOf(const v1::SuiteClock& clock, int sets);

// Of calls on one input variant, in microseconds.
v1::SuiteTime TimeOfCalls(const std::vector<double>& calls_us);

// Times the session's program, of which `sets` sets are mapped, as the clock says. Whatever the
// program does meanwhile is its own affair, so that only an ending that did not pass says something
// about it; then *time is empty.
Ending TimeAsSuite(WorkloadSession& session, const v1::SuiteClock& clock, int sets,
                   const WorkloadSession::Limits& limits, v1::SuiteTime* time);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_SUITE_TIME_H_
