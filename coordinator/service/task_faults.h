#ifndef KSEARCH_COORDINATOR_SERVICE_TASK_FAULTS_H_
#define KSEARCH_COORDINATOR_SERVICE_TASK_FAULTS_H_

#include <string>
#include <vector>

#include "coordinator/store/rows.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// TaskSummary.fault: what `faults` say of the task as it is now, one message for each way in which
// it is at fault. Empty: nothing, also of a task that has changed since or cannot be read.
std::string FaultOf(const v1::TaskSummary& task, const TaskSuite& tasks,
                    const std::vector<TaskFaultRow>& faults);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_TASK_FAULTS_H_
