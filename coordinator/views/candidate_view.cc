#include "coordinator/views/candidate_view.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/platform.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/packet/evaluation_packet.h"
#include "coordinator/views/planning_calls.h"

namespace ksearch {
namespace {

// A worker's result of a PROFILE job always has a profile; a lost job's result has none.
bool IsProfiling(const v1::JobResult& result) { return result.has_profile(); }

// The packet of what was measured on the run's platform. Unreadable parts are left out: the results
// are still there.
std::string PacketOf(Store& store, const std::string& run_id, const CandidateRow& row,
                     std::vector<v1::JobResult> results) {
  std::vector<v1::JobResult> parent;
  if (!row.parent_candidate_id.empty()) {
    if (auto read = store.ReadResultsOf(run_id, row.parent_candidate_id); read.ok()) {
      parent = *std::move(read);
    }
  }
  if (const auto run = store.ReadRunStatus(run_id); run.ok()) {
    const auto foreign = [&](const v1::JobResult& result) {
      return result.has_device() && !Meets(PlatformOf(result.device()), run->platform());
    };
    std::erase_if(results, foreign);
    std::erase_if(parent, foreign);
  }
  v1::Task task;
  const auto spec = store.ReadJob(row.job_id);
  const auto blob =
      spec.ok() ? store.ReadBlob(spec->task_sha256()) : absl::StatusOr<std::string>(spec.status());
  const bool known = blob.ok() && task.ParseFromString(*blob);
  return CandidatePacket(known ? &task : nullptr, results, parent);
}

}  // namespace

std::string CandidatePacket(const v1::Task* task, const std::vector<v1::JobResult>& results,
                            const std::vector<v1::JobResult>& parent) {
  const auto merged = [](const std::vector<v1::JobResult>& all) {
    std::optional<v1::JobResult> screening;
    for (const v1::JobResult& result : all) {
      if (!screening.has_value() && !IsProfiling(result) && result.comparisons_size() == 0) {
        screening = result;
      }
    }
    for (const v1::JobResult& result : all) {
      if (!screening.has_value() || !IsProfiling(result)) continue;
      *screening->mutable_profile() = ProfileIn(result);
    }
    return screening;
  };
  const std::optional<v1::JobResult> own = merged(results);
  const std::optional<v1::JobResult> before = merged(parent);
  if (!own.has_value()) return "";
  return EvaluationPacket({&*own, before.has_value() ? &*before : nullptr, task});
}

absl::StatusOr<v1::CandidateReply> ViewCandidate(Store& store,
                                                 const v1::GetCandidateRequest& request) {
  ASSIGN_OR_RETURN(const std::string run_id, store.ResolveRun(request.run_id()));
  ASSIGN_OR_RETURN(const CandidateRow row, store.ReadCandidate(run_id, request.candidate_id()));
  v1::CandidateReply reply;
  reply.set_candidate_id(row.candidate_id);
  reply.set_node_id(row.node_id);
  reply.set_cycle(row.cycle);
  reply.set_round(row.round);
  reply.set_attempt(row.attempt);
  reply.set_parent_candidate_id(row.parent_candidate_id);
  *reply.mutable_sources() = row.sources;
  reply.set_score(row.score);
  ASSIGN_OR_RETURN(const auto results, store.ReadResultsOf(run_id, row.candidate_id));
  for (const v1::JobResult& result : results) *reply.add_results() = result;
  reply.set_packet(PacketOf(store, run_id, row, results));
  if (!row.call_id.empty()) {
    ASSIGN_OR_RETURN(const LlmCallRow call, store.ReadCall(row.call_id));
    *reply.mutable_call() = SummaryOf(call);
  }
  for (v1::LlmCallSummary& call : PlanningCalls(store, run_id, row.node_id)) {
    *reply.add_world_model_calls() = std::move(call);
  }
  return reply;
}

}  // namespace ksearch
