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

// The programs, results, replies and trees of one run, by their ids. What an id stands for never
// changes, so that a strategy which keeps ids alone and reads the rest here is still a function of
// its inputs. Has the programs of all steps before the present one, and every reply that was folded
// in. NOT_FOUND: there is no such; other errors are the store's.
class ProgramShelf {
 public:
  virtual ~ProgramShelf() = default;

  virtual absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const = 0;
  virtual absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const = 0;
  // Of the run's call of that number, which did not fail.
  virtual absl::StatusOr<LlmReply> ReadReply(int64_t call_number) const = 0;
  // A revision that a step ended with.
  virtual absl::StatusOr<v1::WorldModel> ReadWorldModel(int64_t revision) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PROGRAM_SHELF_H_
