#ifndef KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/store.h"
#include "coordinator/views/fleet_look.h"

namespace ksearch {

// Which workers count as gone for good.
struct Retirement {
  bool listed = false;  // they are in the list, too
  absl::Time now = absl::InfinitePast();
  // Not connected for so long; those of an autoscaler's pool that left as they should, at once.
  absl::Duration after = absl::InfiniteDuration();
};

// Workers of this life as they are, then those only known from earlier ones as last seen.
absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetLook& fleet,
                                                 const Retirement& retirement = {});

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
