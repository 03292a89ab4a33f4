#ifndef KSEARCH_COORDINATOR_VIEWS_EVALUATION_TIME_H_
#define KSEARCH_COORDINATOR_VIEWS_EVALUATION_TIME_H_

#include "absl/status/status.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"
#include "coordinator/views/fleet_facts.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Fills what an estimate says of evaluations: how long one holds a device (the mean of the newest
// recorded screenings of the task that got one, or else the most that the measure plan allows, and
// what comes before it), and how many connected workers could do them. `estimate.config` is
// complete.
absl::Status FillEvaluationTime(Store& store, const FleetFacts& fleet, const TaskSuite& tasks,
                                v1::RunEstimate* estimate);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_EVALUATION_TIME_H_
