#ifndef KSEARCH_COORDINATOR_STORE_RUN_ARCHIVE_H_
#define KSEARCH_COORDINATOR_STORE_RUN_ARCHIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Selects the runs to remove.
struct RunChoice {
  std::vector<std::string> runs;  // ids, unique prefixes, or "last"
  // Also selects every run that ended before this time, except the one with the newest event.
  absl::Time ended_before = absl::InfinitePast();
};

// The runs that are to be removed, and what is removed with them.
struct ArchivePlan {
  v1::ArchiveContents contents;
  // The last event number of each run in contents.runs, in the same order, at the time of reading.
  std::vector<int64_t> last_event_seqs;
  std::vector<std::string> job_ids;  // evaluations that no other run requested
  std::vector<std::string> blobs;    // blobs that no other job names
};

// Reads what would be removed, as one snapshot; a coordinator may be using the database at `path`.
//
// NOT_FOUND: no such database or run. INVALID_ARGUMENT: an ambiguous prefix. FAILED_PRECONDITION:
// another version or program wrote the database; a named run has not ended; or a named run has the
// newest event of the database, which must stay because its number must never be used again
// (Store::ReadNewestCursor).
absl::StatusOr<ArchivePlan> PlanArchive(const std::string& path, const RunChoice& choice);

// The same, and copies the chosen runs into a new database at `target`, including everything that
// they share with other runs. A coordinator can be started on the copy and shows exactly these
// runs. The file appears whole or not at all; no file is made if no run is chosen. ALREADY_EXISTS:
// `target` exists.
absl::StatusOr<ArchivePlan> MakeArchive(const std::string& path, const RunChoice& choice,
                                        const std::string& target);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_RUN_ARCHIVE_H_
