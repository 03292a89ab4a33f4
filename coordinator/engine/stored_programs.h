#ifndef KSEARCH_COORDINATOR_ENGINE_STORED_PROGRAMS_H_
#define KSEARCH_COORDINATOR_ENGINE_STORED_PROGRAMS_H_

#include <string>
#include <utility>

#include "coordinator/search/program_shelf.h"
#include "coordinator/store/store.h"

namespace ksearch {

// The programs, replies and trees of one run, as the store has them. Borrows the store.
class StoredPrograms final : public ProgramShelf {
 public:
  StoredPrograms(Store* store, std::string run_id) : store_(*store), run_id_(std::move(run_id)) {}

  absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const override;
  absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const override;
  absl::StatusOr<LlmReply> ReadReply(int64_t call_number) const override;
  absl::StatusOr<v1::WorldModel> ReadWorldModel(int64_t revision) const override;

 private:
  Store& store_;
  const std::string run_id_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_STORED_PROGRAMS_H_
