#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_ESTIMATE_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_ESTIMATE_H_

#include "coordinator/search/search_strategy.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Estimates the cost of a run with this complete config from its real first prompt and rules of
// thumb for the rest, each of which is listed among the assumptions. Pure.
v1::RunEstimate EstimateRun(const v1::RunConfig& config, const StepOutput& start);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_ESTIMATE_H_
