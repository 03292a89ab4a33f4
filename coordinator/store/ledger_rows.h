#ifndef KSEARCH_COORDINATOR_STORE_LEDGER_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_LEDGER_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/database.h"
#include "coordinator/store/rows.h"

// Rows of the ledger: what each run has used and may use. Every function works inside the caller's
// transaction; contracts as in store.h.
namespace ksearch::ledger_rows {

// Replaces the caps of every scope of the run; a scope that `caps` leaves out has none.
absl::Status SetCaps(Database& database, const std::string& run_id,
                     const std::vector<LedgerCaps>& caps);

// Counts a call with its reservation in both its scopes. OUT_OF_RANGE: it does not fit under a cap.
absl::Status Reserve(Database& database, const LlmCallRow& call);
// Turns the reservation into what was spent.
absl::Status Settle(Database& database, const LlmCallRow& reserved, int64_t tokens, int64_t nano);
// An evaluation was asked for, or ended after `device_us` on a device, which cost `device_nano`.
absl::Status AddEvaluations(Database& database, const std::string& run_id, int64_t evaluations,
                            int64_t device_us, int64_t device_nano);
// The run's own row first, always there.
absl::StatusOr<std::vector<LedgerRow>> Read(Database& database, const std::string& run_id);

}  // namespace ksearch::ledger_rows

#endif  // KSEARCH_COORDINATOR_STORE_LEDGER_ROWS_H_
