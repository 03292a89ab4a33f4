#ifndef KSEARCH_COORDINATOR_SERVICE_FLEET_EVENTS_H_
#define KSEARCH_COORDINATOR_SERVICE_FLEET_EVENTS_H_

#include <vector>

#include "proto/search_service.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Compares a worker's report with the previous one and returns the events: a drain, devices that
// failed or recovered, leases that reached another stage. `before` is empty for the first report of
// a session.
std::vector<v1::FleetEvent> ReportedEvents(const v1::WorkerReport& before,
                                           const v1::WorkerReport& now);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_FLEET_EVENTS_H_
