#ifndef KSEARCH_COORDINATOR_TASKS_WORKLOAD_CHECK_H_
#define KSEARCH_COORDINATOR_TASKS_WORKLOAD_CHECK_H_

#include "absl/status/status.h"
#include "proto/task.pb.h"

namespace ksearch {

// Checks that the workload gives every argument of the kernel a value and that buffer sizes are
// possible. INVALID_ARGUMENT otherwise.
absl::Status CheckWorkload(const v1::Definition& definition, const v1::Workload& workload);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_WORKLOAD_CHECK_H_
