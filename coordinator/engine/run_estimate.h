#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_ESTIMATE_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_ESTIMATE_H_

#include "coordinator/search/search_strategy.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// What a run of this complete config may cost, from its real first prompt and from rules of thumb
// about the rest, each of which is among the assumptions. Pure.
v1::RunEstimate EstimateRun(const v1::RunConfig& config, const StepOutput& start);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_ESTIMATE_H_
