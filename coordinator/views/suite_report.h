#ifndef KSEARCH_COORDINATOR_VIEWS_SUITE_REPORT_H_
#define KSEARCH_COORDINATOR_VIEWS_SUITE_REPORT_H_

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"

namespace ksearch {

// Reports the best program for each problem of a suite, by screenings of the task's present version
// on record, all from devices of one model. A program that a later check or confirmation found
// wrong does not count. NOT_FOUND: no such suite or run; INVALID_ARGUMENT: a filter that names no
// task.
absl::StatusOr<v1::SuiteReport> ReportSuite(Store& store, const TaskSuite& tasks,
                                            const v1::ReportSuiteRequest& request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_SUITE_REPORT_H_
