#ifndef KSEARCH_COORDINATOR_SERVICE_FLEET_EVENTS_H_
#define KSEARCH_COORDINATOR_SERVICE_FLEET_EVENTS_H_

#include <vector>

#include "proto/search_service.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// What a worker's report says that the one before it did not: a drain, devices that fell sick or
// recovered, leases that came to another stage. `before` is empty for the first report of a
// session.
std::vector<v1::FleetEvent> ReportedEvents(const v1::WorkerReport& before,
                                           const v1::WorkerReport& now);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_FLEET_EVENTS_H_
