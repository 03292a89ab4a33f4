#ifndef KSEARCH_COORDINATOR_STORE_RUN_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_RUN_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/database.h"
#include "coordinator/store/state_pieces.h"
#include "coordinator/store/store.h"

// Rows of runs: their state, world models and arrivals. Every function works inside the caller's
// transaction; contracts as in store.h.
namespace ksearch::run_rows {

absl::StatusOr<std::string> Insert(Database& database, const RunRow& run, absl::Time now);
absl::StatusOr<RunRow> Read(Database& database, const std::string& run_id);
absl::StatusOr<v1::RunStatus> ReadStatus(Database& database, const std::string& run_id);
absl::StatusOr<std::string> Resolve(Database& database, const std::string& prefix);
absl::StatusOr<std::vector<v1::RunStatus>> List(Database& database);

// Writes cursor, state and status of a step that is about to add its events. Returns the number of
// the last event before the step. FAILED_PRECONDITION: the cursor would go back. `pieced`: the
// run's state as stored, or nullopt if it must be read; afterwards the state of the step, or
// nullopt if that is stored whole.
absl::StatusOr<int64_t> Advance(Database& database, const StepCommit& step, absl::Time now,
                                std::optional<PiecedState>* pieced);

// Returns true if the arrival is new: a (run, kind, ref, tag) arrives once.
absl::StatusOr<bool> InsertArrival(Database& database, const std::string& run_id,
                                   Arrival::Kind kind, const std::string& ref,
                                   const std::string& tag);
absl::StatusOr<std::vector<Arrival>> ReadArrivals(Database& database, const std::string& run_id,
                                                  int64_t after_seq, int limit);

}  // namespace ksearch::run_rows

#endif  // KSEARCH_COORDINATOR_STORE_RUN_ROWS_H_
