#ifndef KSEARCH_COORDINATOR_VIEWS_EVALUATION_TIME_H_
#define KSEARCH_COORDINATOR_VIEWS_EVALUATION_TIME_H_

#include "absl/status/status.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"
#include "coordinator/views/fleet_facts.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Fills in what an estimate says about evaluations: how long one holds a device, and how many
// connected workers could run them. The time is the mean of the newest recorded screenings of the
// task on a device; without any, it is the limit of the measure plan plus the steps before
// measuring. `estimate.config` must be complete.
absl::Status FillEvaluationTime(Store& store, const FleetFacts& fleet, const TaskSuite& tasks,
                                v1::RunEstimate* estimate);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_EVALUATION_TIME_H_
