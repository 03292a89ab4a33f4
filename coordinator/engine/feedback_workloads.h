#ifndef KSEARCH_COORDINATOR_ENGINE_FEEDBACK_WORKLOADS_H_
#define KSEARCH_COORDINATOR_ENGINE_FEEDBACK_WORKLOADS_H_

#include "absl/status/status.h"
#include "proto/config.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Makes the workloads of `config.feedback_workloads` those that screenings run, and holds out all
// others. An empty list leaves the task as it is. INVALID_ARGUMENT names the entry: no workload of
// the task, named twice, or nothing would be held out.
absl::Status ChooseFeedbackWorkloads(const v1::RunConfig& config, v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_FEEDBACK_WORKLOADS_H_
