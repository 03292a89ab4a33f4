#ifndef KSEARCH_COORDINATOR_VIEWS_TASK_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_TASK_VIEW_H_

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"

namespace ksearch {

// Returns every task, with the faults that evaluations have shown in its own programs.
absl::StatusOr<v1::ListTasksReply> ViewTasks(Store& store, const TaskSuite& tasks);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_TASK_VIEW_H_
