#ifndef KSEARCH_COORDINATOR_STORE_EVENT_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_EVENT_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/database.h"
#include "coordinator/store/store.h"

// Rows of run events. The cursor of a row is its rowid: rows are only ever appended, so the numbers
// are 1, 2, 3 without a gap, and VACUUM, which may renumber rows, keeps them. Every function works
// inside the caller's transaction; contracts as in store.h.
namespace ksearch::event_rows {

// Inserts the step's events, numbered from `last_seq` on. Returns the rows as Store::EventListener
// gets them.
absl::StatusOr<std::vector<v1::FeedEntry>> Insert(Database& database, const StepCommit& step,
                                                  int64_t last_seq, absl::Time now);
absl::StatusOr<std::vector<v1::RunEvent>> Read(Database& database, const std::string& run_id,
                                               int64_t after_seq, int limit);
absl::StatusOr<std::vector<v1::FeedEntry>> ReadAll(Database& database, int64_t after_cursor,
                                                   int limit);
absl::StatusOr<int64_t> ReadNewestCursor(Database& database);

}  // namespace ksearch::event_rows

#endif  // KSEARCH_COORDINATOR_STORE_EVENT_ROWS_H_
