#ifndef KSEARCH_COORDINATOR_STORE_RUN_ARCHIVE_H_
#define KSEARCH_COORDINATOR_STORE_RUN_ARCHIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Which runs are to go.
struct RunChoice {
  std::vector<std::string> runs;  // ids, unique prefixes, or "last"
  // Also every run that ended before then, but for the one with the newest event.
  absl::Time ended_before = absl::InfinitePast();
};

// What goes with them.
struct ArchivePlan {
  v1::ArchiveContents contents;
  // Of contents.runs, in their order: what they had when this was read.
  std::vector<int64_t> last_event_seqs;
  std::vector<std::string> job_ids;  // evaluations that no other run asked for
  std::vector<std::string> blobs;    // that no other job names
};

// Reads what would go, at one moment; a coordinator may be using the database at `path` meanwhile.
//
// NOT_FOUND: no such database or run. INVALID_ARGUMENT: an ambiguous prefix. FAILED_PRECONDITION:
// the database was written by another version or program; a named run has not ended; or it has the
// newest event of the database, which stays, because its number must never be used again
// (Store::ReadNewestCursor).
absl::StatusOr<ArchivePlan> PlanArchive(const std::string& path, const RunChoice& choice);

// The same, and copies the chosen runs into a new database at `target`: everything that they have,
// and what they share with other runs, so that a coordinator can be started on it and shows these
// runs and no others. It appears whole or not at all; if no run is chosen, not at all.
// ALREADY_EXISTS: the target.
absl::StatusOr<ArchivePlan> MakeArchive(const std::string& path, const RunChoice& choice,
                                        const std::string& target);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_RUN_ARCHIVE_H_
