#ifndef KSEARCH_COORDINATOR_VIEWS_RESULT_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_RESULT_VIEW_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"
#include "coordinator/views/fleet_facts.h"

namespace ksearch {

// Results on record, newest first, and why some of them no longer answer jobs. INVALID_ARGUMENT: a
// negative limit.
absl::StatusOr<v1::ListResultsReply> ViewResults(Store& store, const FleetFacts& fleet,
                                                 const TaskSuite& tasks,
                                                 const v1::ListResultsRequest& request);

// Platforms of workers as last seen, for jobs that no connected worker can run.
absl::StatusOr<std::vector<v1::Platform>> PlatformsAsLastSeen(Store& store,
                                                              const v1::JobSpec& spec);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_RESULT_VIEW_H_
