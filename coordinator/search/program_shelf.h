#ifndef KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_
#define KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/llm/llm_client.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// The programs, results, replies and trees of one run, by id. The content of an id never changes,
// so a strategy that keeps only ids and reads the rest here is still a function of its inputs.
// Contains the programs of all steps before the current one, and every reply that was processed.
// NOT_FOUND if there is no such id; other errors are the store's.
class ProgramShelf {
 public:
  virtual ~ProgramShelf() = default;

  virtual absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const = 0;
  virtual absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const = 0;
  // The reply to the run's call with that number, which must not have failed.
  virtual absl::StatusOr<LlmReply> ReadReply(int64_t call_number) const = 0;
  // The tree with this revision, at which a step must have ended.
  virtual absl::StatusOr<v1::WorldModel> ReadWorldModel(int64_t revision) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_
