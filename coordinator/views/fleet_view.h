#ifndef KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "coordinator/views/fleet_look.h"

namespace ksearch {

// Workers of this life as they are, then those only known from earlier ones as last seen.
absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetLook& fleet);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
