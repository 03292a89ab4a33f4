#ifndef KSEARCH_COORDINATOR_VIEWS_PLANNING_CALLS_H_
#define KSEARCH_COORDINATOR_VIEWS_PLANNING_CALLS_H_

#include <string>
#include <vector>

#include "coordinator/store/store.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The public view of a model call: its labels, the whole prompt and the whole reply.
v1::LlmCallSummary SummaryOf(const LlmCallRow& call);

// Returns the answered calls that planned for a node of a run's tree, in order: those asked about
// it and those whose reply names it. Returns at most the newest 20, fewer if they would not fit
// into a reply. Reads every call of the run, so it is for people who ask, not for loops.
std::vector<v1::LlmCallSummary> PlanningCalls(Store& store, const std::string& run_id,
                                              const std::string& node_id);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_PLANNING_CALLS_H_
