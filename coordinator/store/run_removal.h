#ifndef KSEARCH_COORDINATOR_STORE_RUN_REMOVAL_H_
#define KSEARCH_COORDINATOR_STORE_RUN_REMOVAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ksearch {

struct RunRemoval {
  std::vector<std::string> runs;  // ids, unique prefixes, or "last"
  // Also every run that ended before then and is not the one that RemoveRuns keeps.
  absl::Time ended_before = absl::InfinitePast();
  std::string archive;  // where the database is copied to first; must not exist yet
};

struct RemovedRuns {
  std::vector<std::string> run_ids;  // oldest first
  int64_t results = 0;
  int64_t calls = 0;
};

// Copies the database at `path` to the archive, then removes runs with everything that only they
// have: events, world models, model calls, and the evaluations that no other run asked for, with
// their samples. All or nothing; if no run qualifies, no archive is made. The file does not shrink,
// but later rows take the place that becomes free. The newest event is kept, with its run, because
// its number must never be used again (Store::ReadNewestCursor).
//
// NOT_FOUND: no such database or run. FAILED_PRECONDITION: a coordinator uses the database, it was
// written by another version or program, or a named run has not ended or must be kept.
// ALREADY_EXISTS: the archive. INVALID_ARGUMENT: an ambiguous prefix.
absl::StatusOr<RemovedRuns> RemoveRuns(const std::string& path, const RunRemoval& removal);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_RUN_REMOVAL_H_
