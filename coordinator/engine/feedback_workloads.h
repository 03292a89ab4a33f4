#ifndef KSEARCH_COORDINATOR_ENGINE_FEEDBACK_WORKLOADS_H_
#define KSEARCH_COORDINATOR_ENGINE_FEEDBACK_WORKLOADS_H_

#include "absl/status/status.h"
#include "proto/config.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Makes the workloads of `config.feedback_workloads` those that screenings run, and holds out all
// others. An empty list leaves the task as it is. A task that is ranked by its official workloads
// is ranked by all if not all official ones are chosen. INVALID_ARGUMENT names the entry: no
// workload of the task, named twice, not official where only these are ranked, or nothing would be
// held out.
absl::Status ChooseFeedbackWorkloads(const v1::RunConfig& config, v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_FEEDBACK_WORKLOADS_H_
