#ifndef KSEARCH_COORDINATOR_VIEWS_SOLUTION_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_SOLUTION_VIEW_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/tasks/task_suite.h"
#include "coordinator/views/fleet_facts.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Returns the published solutions of a task. Each lists the packages that no connected worker has
// among its toolkits; none are listed while no worker is connected. NOT_FOUND: no such task.
absl::StatusOr<v1::ListSolutionsReply> ViewSolutions(const TaskSuite& tasks,
                                                     const FleetFacts& fleet,
                                                     const std::string& task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_SOLUTION_VIEW_H_
