#ifndef KSEARCH_COORDINATOR_TASKS_TASK_SUMMARY_H_
#define KSEARCH_COORDINATOR_TASKS_TASK_SUMMARY_H_

#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns the list entry of a usable task. The caller fills in path, suite, level and left_out.
v1::TaskSummary SummarizeTask(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TASK_SUMMARY_H_
