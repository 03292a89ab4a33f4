#ifndef KSEARCH_COORDINATOR_STORE_RUN_REMOVAL_H_
#define KSEARCH_COORDINATOR_STORE_RUN_REMOVAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/database.h"
#include "coordinator/store/run_archive.h"
#include "proto/search_service.pb.h"

namespace ksearch {

struct RemovedRuns {
  std::vector<std::string> run_ids;  // oldest first
  int64_t results = 0;
  int64_t calls = 0;
};

// Archives the chosen runs of a database that no coordinator uses (MakeArchive), then removes them
// with everything that only they use: events, world models, model calls, blobs, and the evaluations
// that no other run requested, with their samples. All or nothing; if no run is chosen, no archive
// is made. The file does not shrink, but later rows use the freed space.
//
// Errors: as MakeArchive; FAILED_PRECONDITION also if a coordinator uses the database.
absl::StatusOr<RemovedRuns> RemoveRuns(const std::string& path, const RunChoice& choice,
                                       const std::string& archive);

// Removes one run that has ended, as described for Store::RemoveRun. Requires a transaction.
absl::StatusOr<bool> RemoveEndedRun(Database& database, const std::string& run_id,
                                    int64_t last_event_seq);

// ---- Shared with run_archive.cc

// FAILED_PRECONDITION: another version or another program wrote the database.
absl::Status CheckIsKept(Database& database);
// Returns "" if there is no event.
absl::StatusOr<std::string> RunOfNewestEvent(Database& database);
// FAILED_PRECONDITION: the run has not ended, or is `kept`, the run with the newest event.
absl::Status CheckRemovable(const std::string& run_id, v1::RunState state, const std::string& kept);
// Fills temp.gone_jobs with the jobs that only runs in temp.gone_runs requested.
absl::Status FindGoneJobs(Database& database);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_RUN_REMOVAL_H_
