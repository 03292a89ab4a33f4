#include "common/task_limits.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {

absl::Status CheckWorkloadCount(absl::string_view task_name, int workloads) {
  if (workloads <= kMaxWorkloads) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("task '", task_name, "' has more than ", kMaxWorkloads,
                   " workloads: keep those that ask different things of a kernel, or make several "
                   "tasks of them"));
}

absl::Status CheckWorkloadCounts(const v1::JobSpec& spec, const v1::Task& task) {
  RETURN_IF_ERROR(CheckWorkloadCount(task.name(), task.workloads_size()));
  if (spec.workload_uuids_size() <= kMaxWorkloads) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "workload_uuids: a job of task '", task.name(), "' names ", spec.workload_uuids_size(),
      " workloads, and at most ", kMaxWorkloads, " are allowed: make several jobs of it"));
}

}  // namespace ksearch
