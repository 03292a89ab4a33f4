#ifndef KSEARCH_COMMON_TASK_FAULT_H_
#define KSEARCH_COMMON_TASK_FAULT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A program that came with a job, other than its candidate, is at fault: the task's reference or
// baseline, or a rival does not build, crashes, hangs, gives NaN or disagrees with itself. No other
// worker would do better, so the job ends as OUTCOME_TASK_ERROR and is not tried again.
// FAILED_PRECONDITION, told from trouble of the worker by a payload.
absl::Status TaskFault(absl::string_view message);
// The same of a program that something else may have killed: a fault once it is so every time.
absl::Status UnexplainedTaskFault(absl::string_view message);

bool IsTaskFault(const absl::Status& status);
bool IsUnexplained(const absl::Status& fault);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TASK_FAULT_H_
