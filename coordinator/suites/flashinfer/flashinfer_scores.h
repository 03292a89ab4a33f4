#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SCORES_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SCORES_H_

#include <set>
#include <string>
#include <vector>

#include "coordinator/suites/flashinfer/flashinfer_traces.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The scores that FlashInfer-Bench would give to a result that passed and was timed. Both are means
// over the data set's own workloads (`uuids`): the speed-up over the reference, which was timed
// here with it, and over the recorded latencies of `baselines`, the solutions that upstream
// compares with (for each workload the best that passed on the result's model of device). If there
// is no such latency, the second score is 0, with a note; without baselines it is absent. Returns
// no scores for a result that did not pass or was not timed.
std::vector<v1::SuiteScore> FlashInferScores(const v1::JobResult& result,
                                             const std::set<std::string>& uuids,
                                             const std::set<std::string>& baselines,
                                             const std::vector<FlashInferTrace>& traces);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SCORES_H_
