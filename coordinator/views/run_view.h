#ifndef KSEARCH_COORDINATOR_VIEWS_RUN_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_RUN_VIEW_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "coordinator/views/fleet_facts.h"

namespace ksearch {

// Answers about one run. A view reads and changes nothing; every way in which people ask (gRPC
// now, pages) gets the same answer. `prefix` and its errors are as in Store::ResolveRun.

// Includes what has been reserved and settled since the run's last step.
absl::StatusOr<v1::RunStatus> ViewRun(Store& store, const FleetFacts& fleet,
                                      const std::string& prefix);

// Returns the best confirmed candidate. NOT_FOUND if there is none yet.
absl::StatusOr<v1::BestReply> ViewBest(Store& store, const std::string& prefix);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_RUN_VIEW_H_
