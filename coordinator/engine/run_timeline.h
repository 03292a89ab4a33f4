#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_TIMELINE_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_TIMELINE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/store/store.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Passes the run's model calls to `write`, and then the leases of its results, each in the order of
// their numbers, until `write` returns false (CANCELLED). Results that an earlier run already had
// are omitted. NOT_FOUND: no such run.
absl::Status ReadTimeline(Store* store, const std::string& run_id,
                          const std::function<bool(const v1::TimelineEntry&)>& write);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_TIMELINE_H_
