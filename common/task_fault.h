#ifndef KSEARCH_COMMON_TASK_FAULT_H_
#define KSEARCH_COMMON_TASK_FAULT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The value of JobResult.at_fault if one of the task's own programs is at fault.
inline constexpr absl::string_view kTaskAtFault = "task";

// Makes the FAILED_PRECONDITION error for a program of a job that is not its candidate: the task's
// reference or baseline, or a rival, does not build, crashes, hangs, gives NaN or contradicts
// itself. The job would end in the same way on every worker, so its outcome is OUTCOME_TASK_ERROR
// and it is not tried again. A payload distinguishes the error from a fault of the worker.
absl::Status TaskFault(absl::string_view message);
// The same for a program that something else may have killed. It counts as a fault of the program
// only if it happens every time.
absl::Status UnexplainedTaskFault(absl::string_view message);
// Attributes the fault to a rival that came with the job and is not one of the task's own programs.
absl::Status FaultOfRival(const absl::Status& fault, absl::string_view rival_id);

bool IsTaskFault(const absl::Status& status);
bool IsUnexplained(const absl::Status& fault);
// Returns whose fault it is: the rival_id, or kTaskAtFault.
std::string AtFault(const absl::Status& fault);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TASK_FAULT_H_
