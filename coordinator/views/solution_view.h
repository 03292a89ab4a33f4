#ifndef KSEARCH_COORDINATOR_VIEWS_SOLUTION_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_SOLUTION_VIEW_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/tasks/task_suite.h"
#include "coordinator/views/fleet_facts.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The published solutions of a task, and what workers lack for each: packages that no connected one
// names in its toolkits; none while no worker is connected. NOT_FOUND: no such task.
absl::StatusOr<v1::ListSolutionsReply> ViewSolutions(const TaskSuite& tasks,
                                                     const FleetFacts& fleet,
                                                     const std::string& task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_SOLUTION_VIEW_H_
