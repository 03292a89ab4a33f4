#ifndef KSEARCH_COORDINATOR_STORE_TASK_FAULT_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_TASK_FAULT_ROWS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/database.h"
#include "coordinator/store/rows.h"
#include "proto/result.pb.h"

// What is known of tasks whose own programs are at fault. Every function works inside the caller's
// transaction; contracts as in store.h.
namespace ksearch::task_fault_rows {

// What the result, just inserted, shows of its task. Endings that no worker found are none of it.
absl::Status Note(Database& database, const v1::JobResult& result);
absl::StatusOr<std::vector<TaskFaultRow>> Read(Database& database);

}  // namespace ksearch::task_fault_rows

#endif  // KSEARCH_COORDINATOR_STORE_TASK_FAULT_ROWS_H_
