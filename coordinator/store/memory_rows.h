#ifndef KSEARCH_COORDINATOR_STORE_MEMORY_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_MEMORY_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/database.h"
#include "coordinator/store/rows.h"
#include "proto/memory.pb.h"

// Measured gains. Every function works inside the caller's transaction; contracts as in store.h.
namespace ksearch::memory_rows {

// One that is there already stays as it is.
absl::Status Insert(Database& database, const v1::MeasuredGain& gain, absl::Time now);
// The candidate's program was refused after its gain was recorded; fine if none was.
absl::Status Refuse(Database& database, const std::string& run_id, const std::string& candidate_id);
absl::StatusOr<std::vector<v1::MeasuredGain>> Read(Database& database, const GainFilter& filter,
                                                   int limit);
// How many there were.
absl::StatusOr<int64_t> Forget(Database& database, const GainFilter& filter);

}  // namespace ksearch::memory_rows

#endif  // KSEARCH_COORDINATOR_STORE_MEMORY_ROWS_H_
