#ifndef KSEARCH_COORDINATOR_VIEWS_TASK_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_TASK_VIEW_H_

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"

namespace ksearch {

// Returns the tasks that are requested, with the faults that evaluations have shown in their own
// programs. No task of that name: none.
absl::StatusOr<v1::ListTasksReply> ViewTasks(Store& store, const TaskSuite& tasks,
                                             const v1::ListTasksRequest& request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_TASK_VIEW_H_
