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

absl::StatusOr<LlmReply> StoredPrograms::ReadReply(int64_t call_number) const {
  ASSIGN_OR_RETURN(LlmCallRow call, store_.ReadCall(absl::StrCat(run_id_, "/", call_number)));
  if (!call.answered || !call.error.empty()) {
    return absl::NotFoundError(absl::StrCat("call ", call.call_id, " has no reply"));
  }
  LlmReply reply;
  reply.text = std::move(call.reply);
  reply.finish_reason = std::move(call.finish_reason);
  reply.model = std::move(call.reply_model);
  return reply;
}

absl::StatusOr<v1::WorldModel> StoredPrograms::ReadWorldModel(int64_t revision) const {
  return store_.ReadWorldModel(run_id_, revision);
}

}  // namespace ksearch
