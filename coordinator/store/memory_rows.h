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

// Rows of measured gains. Every function works inside the caller's transaction; contracts as in
// store.h.
namespace ksearch::memory_rows {

// Inserts a gain. An existing row stays unchanged.
absl::Status Insert(Database& database, const v1::MeasuredGain& gain, absl::Time now);
// Marks the candidate's gain as refused, because its program was refused afterwards. Not an error
// if no gain was recorded.
absl::Status Refuse(Database& database, const std::string& run_id, const std::string& candidate_id);
absl::StatusOr<std::vector<v1::MeasuredGain>> Read(Database& database, const GainFilter& filter,
                                                   int limit);
// Deletes the gains that match and returns their number.
absl::StatusOr<int64_t> Forget(Database& database, const GainFilter& filter);

}  // namespace ksearch::memory_rows

#endif  // KSEARCH_COORDINATOR_STORE_MEMORY_ROWS_H_
