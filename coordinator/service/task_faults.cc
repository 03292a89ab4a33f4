#include "coordinator/service/task_faults.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "common/identity.h"

namespace ksearch {

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

}  // namespace ksearch
