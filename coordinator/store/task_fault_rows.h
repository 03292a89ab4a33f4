#ifndef KSEARCH_COORDINATOR_STORE_TASK_FAULT_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_TASK_FAULT_ROWS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/database.h"
#include "coordinator/store/rows.h"
#include "proto/result.pb.h"

// Rows of tasks whose own programs are at fault. Every function works inside the caller's
// transaction; contracts as in store.h.
namespace ksearch::task_fault_rows {

// Updates the rows by a result that was just inserted. Results that come from no worker are
// ignored.
absl::Status Note(Database& database, const v1::JobResult& result);
absl::StatusOr<std::vector<TaskFaultRow>> Read(Database& database);

}  // namespace ksearch::task_fault_rows

#endif  // KSEARCH_COORDINATOR_STORE_TASK_FAULT_ROWS_H_
