#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_TIMELINE_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_TIMELINE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/store/store.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Hands the run's model calls to `write`, then the leases that its results came from, each in order
// of their numbers, until it returns false (CANCELLED then). Results that an earlier run has had
// are left out. NOT_FOUND: no such run.
absl::Status ReadTimeline(Store* store, const std::string& run_id,
                          const std::function<bool(const v1::TimelineEntry&)>& write);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_TIMELINE_H_
