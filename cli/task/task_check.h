#ifndef KSEARCH_CLI_TASK_TASK_CHECK_H_
#define KSEARCH_CLI_TASK_TASK_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// One program and the workers' verdict on it.
struct TriedProgram {
  std::string name;
  std::string what;
  std::string verdict;
  // An honest program passed on every workload; or a cheat was refused on every workload or cannot
  // be written for this task.
  bool good = false;
};

struct TaskCheck {
  std::vector<TriedProgram> programs;
  v1::JobResult baseline;  // of the check of the task's first baseline
  bool good() const;
};

// Has workers check the task's own programs and the cheats (cheat_programs.h) on every workload,
// held-out ones too; `task` becomes what was checked. NOT_FOUND if the coordinator has no such
// task; FAILED_PRECONDITION if its folder cannot be read here, is another than the one named, if it
// has no program in Python, or if its programs are at fault; UNAVAILABLE if a job was lost.
absl::StatusOr<TaskCheck> CheckTask(Client* client, const std::string& name_or_folder,
                                    v1::Task* task);

// The verdicts, and the baseline's errors with the tolerance.
std::string TaskCheckText(const v1::Task& task, const TaskCheck& check);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_TASK_CHECK_H_
