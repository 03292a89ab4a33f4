#ifndef KSEARCH_COORDINATOR_STORE_LEDGER_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_LEDGER_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/database.h"
#include "coordinator/store/rows.h"

// Rows of the ledger: the usage and the caps of each run. Every function works inside the caller's
// transaction; contracts as in store.h.
namespace ksearch::ledger_rows {

// Replaces the caps of every scope of the run. A scope that `caps` omits has no cap.
absl::Status SetCaps(Database& database, const std::string& run_id,
                     const std::vector<LedgerCaps>& caps);

// Counts a call with its reservation in both of its scopes. OUT_OF_RANGE: the reservation exceeds a
// cap.
absl::Status Reserve(Database& database, const LlmCallRow& call);
// Replaces the reservation with the actual usage.
absl::Status Settle(Database& database, const LlmCallRow& reserved, int64_t tokens, int64_t nano);
// Counts evaluations that were requested, or that ended after `device_us` on a device at a cost of
// `device_nano`.
absl::Status AddEvaluations(Database& database, const std::string& run_id, int64_t evaluations,
                            int64_t device_us, int64_t device_nano);
// Returns the run's own row, which always exists, followed by those of its models.
absl::StatusOr<std::vector<LedgerRow>> Read(Database& database, const std::string& run_id);

}  // namespace ksearch::ledger_rows

#endif  // KSEARCH_COORDINATOR_STORE_LEDGER_ROWS_H_
