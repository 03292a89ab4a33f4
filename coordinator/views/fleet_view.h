#ifndef KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/store.h"
#include "coordinator/views/fleet_facts.h"

namespace ksearch {

// Decides which workers count as permanently gone.
struct Retirement {
  bool listed = false;  // include them in the list
  absl::Time now = absl::InfinitePast();
  // How long a worker must have been disconnected. Workers of an autoscaler's pool that left in
  // order count at once.
  absl::Duration after = absl::InfiniteDuration();
};

// Which part of the list to return, as in ListWorkersRequest.
struct WorkerPage {
  int size = 0;
  std::string token;
};

// Returns one page of the workers by worker_id: those that have connected since the start as they
// are, and earlier ones as last seen. INVALID_ARGUMENT: a negative size.
absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetFacts& fleet,
                                                 const Retirement& retirement = {},
                                                 const WorkerPage& page = {});

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_FLEET_VIEW_H_
