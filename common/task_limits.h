#ifndef KSEARCH_COMMON_TASK_LIMITS_H_
#define KSEARCH_COMMON_TASK_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The maximum number of workloads of a task, and of a job. The largest definitions of public suites
// (FlashInfer-Bench) have a few hundred. With this many, the samples of a screening with the
// default plan still fit into a message (8 MiB).
inline constexpr int kMaxWorkloads = 1024;

// Limits for what a JOB_KIND_DESCRIBE job reports.
inline constexpr int64_t kMaxDescriptionBytes = 256 << 10;

// INVALID_ARGUMENT, which names the task, if it has more than kMaxWorkloads.
absl::Status CheckWorkloadCount(absl::string_view task_name, int workloads);

// The same for a job of this task: checks all workloads of the task, and those that the job names.
absl::Status CheckWorkloadCounts(const v1::JobSpec& spec, const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TASK_LIMITS_H_
