#ifndef KSEARCH_COMMON_TASK_FAULT_H_
#define KSEARCH_COMMON_TASK_FAULT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// JobResult.at_fault of a fault of the task's own programs.
inline constexpr absl::string_view kTaskAtFault = "task";

// A program that came with a job, other than its candidate, is at fault: the task's reference or
// baseline, or a rival does not build, crashes, hangs, gives NaN or disagrees with itself. No other
// worker would do better, so the job ends as OUTCOME_TASK_ERROR and is not tried again.
// FAILED_PRECONDITION; a payload tells it from trouble of the worker.
absl::Status TaskFault(absl::string_view message);
// The same of a program that something else may have killed: a fault once it is so every time.
absl::Status UnexplainedTaskFault(absl::string_view message);
// The same fault, of a rival that came with the job and is none of the task's own programs.
absl::Status FaultOfRival(const absl::Status& fault, absl::string_view rival_id);

bool IsTaskFault(const absl::Status& status);
bool IsUnexplained(const absl::Status& fault);
// Whose it is: the rival_id, or kTaskAtFault.
std::string AtFault(const absl::Status& fault);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TASK_FAULT_H_
