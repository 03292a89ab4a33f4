#include "coordinator/views/task_view.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/identity.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// TaskSummary.fault: what `faults` say about the current task, one message for each fault. Empty:
// nothing, also if the task has changed since or cannot be read.
std::string FaultOf(const v1::TaskSummary& task, const TaskSuite& tasks,
                    const std::vector<TaskFaultRow>& faults) {
  std::string digest;
  std::vector<std::string> messages;
  for (const TaskFaultRow& fault : faults) {
    if (fault.spec.task_name() != task.name()) continue;
    if (digest.empty()) {
      const auto loaded = tasks.Load(task.name());
      if (!loaded.ok()) return "";
      digest = TaskDigest(*loaded);
    }
    const std::string& message = fault.result.message();
    if (fault.spec.task_sha256() == digest &&
        std::find(messages.begin(), messages.end(), message) == messages.end()) {
      messages.push_back(message);
    }
  }
  return absl::StrJoin(messages, "; ");
}

// Adds what only a request for one task shows; nothing if the task cannot be loaded, whose error
// the summary has.
void AddDetails(const TaskSuite& tasks, v1::TaskSummary* summary) {
  absl::StatusOr<v1::Task> task = tasks.Load(summary->name());
  if (!task.ok()) return;
  *summary->mutable_definition() = std::move(*task->mutable_definition());
  summary->mutable_definition()->clear_reference_text();
  for (v1::Workload& workload : *task->mutable_workloads()) {
    workload.clear_inputs();
    *summary->add_workloads() = std::move(workload);
  }
}

}  // namespace

absl::StatusOr<v1::ListTasksReply> ViewTasks(Store& store, const TaskSuite& tasks,
                                             const v1::ListTasksRequest& request) {
  ASSIGN_OR_RETURN(const auto faults, store.ReadTaskFaults());
  v1::ListTasksReply reply;
  for (v1::TaskSummary& task : tasks.List()) {
    if (!request.task().empty() && task.name() != request.task()) continue;
    if (!request.task().empty()) AddDetails(tasks, &task);
    if (task.error().empty()) task.set_fault(FaultOf(task, tasks, faults));
    *reply.add_tasks() = std::move(task);
  }
  return reply;
}

}  // namespace ksearch
