#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SCORES_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SCORES_H_

#include <set>
#include <string>
#include <vector>

#include "coordinator/suites/flashinfer/flashinfer_traces.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// What FlashInfer-Bench would say of a result that passed and was timed: arithmetic means over the
// data set's own workloads (`uuids`) of its speed-up over the reference, timed here beside it, and
// over the recorded latencies of `baselines`, the solutions that upstream compares with: of each
// workload the best that passed on a device of the result's model. A value of 0 with a note says
// why there is no second one; without baselines there is none. Empty of other results.
std::vector<v1::SuiteScore> FlashInferScores(const v1::JobResult& result,
                                             const std::set<std::string>& uuids,
                                             const std::set<std::string>& baselines,
                                             const std::vector<FlashInferTrace>& traces);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SCORES_H_
