#ifndef KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/store.h"
#include "coordinator/views/fleet_facts.h"

namespace ksearch {

// Which workers count as permanently gone.
struct Retirement {
  bool listed = false;  // they are in the list, too
  absl::Time now = absl::InfinitePast();
  // Not connected for so long; those of an autoscaler's pool that left as they should, at once.
  absl::Duration after = absl::InfiniteDuration();
};

// Which part of the list, as in ListWorkersRequest.
struct WorkerPage {
  int size = 0;
  std::string token;
};

// Workers that have connected since the start as they are, and those known from before as last
// seen, by worker_id; one page of them. INVALID_ARGUMENT: a negative size.
absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetFacts& fleet,
                                                 const Retirement& retirement = {},
                                                 const WorkerPage& page = {});

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
