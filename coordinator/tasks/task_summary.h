#ifndef KSEARCH_COORDINATOR_TASKS_TASK_SUMMARY_H_
#define KSEARCH_COORDINATOR_TASKS_TASK_SUMMARY_H_

#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// What a list says of a task that can be used; path, suite, level and left_out are the caller's.
v1::TaskSummary SummarizeTask(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TASK_SUMMARY_H_
