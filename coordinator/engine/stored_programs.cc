#include "coordinator/engine/stored_programs.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {

absl::StatusOr<v1::Sources> StoredPrograms::ReadSources(const std::string& candidate_id) const {
  ASSIGN_OR_RETURN(const CandidateRow candidate, store_.ReadCandidate(run_id_, candidate_id));
  return candidate.sources;
}

absl::StatusOr<v1::JobResult> StoredPrograms::ReadResult(const std::string& job_id) const {
  ASSIGN_OR_RETURN(std::optional<v1::JobResult> result, store_.ReadResult(job_id));
  if (result.has_value()) return *std::move(result);
  return absl::NotFoundError(absl::StrCat("job ", job_id, " has no result"));
}

}  // namespace ksearch
