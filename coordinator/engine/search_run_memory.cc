// The measured gains that a run adds to the memory.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/engine/search_run.h"
#include "coordinator/memory/measured_gain.h"
#include "coordinator/search/code_answer.h"

namespace ksearch {

bool SearchRun::remembers() const {
  return context_.config.memory().mode() == v1::MEMORY_MODE_READ_WRITE;
}

absl::StatusOr<std::optional<v1::JobResult>> SearchRun::ReadParent(
    const std::string& candidate_id) const {
  const auto parent = parts_.store->ReadCandidate(run_id_, candidate_id);
  if (!parent.ok()) return std::optional<v1::JobResult>();  // it belongs to the run continued
  ASSIGN_OR_RETURN(std::optional<v1::JobResult> screened, parts_.store->ReadResult(parent->job_id));
  if (!screened.has_value() || context_.task.device() != v1::DEVICE_CLASS_CUDA) return screened;
  ASSIGN_OR_RETURN(const std::vector<v1::JobResult> results,
                   parts_.store->ReadResultsOf(run_id_, parent->candidate_id));
  for (const v1::JobResult& result : results) {
    if (result.profile().kernels_size() > 0) *screened->mutable_profile() = result.profile();
  }
  return screened;
}

absl::Status SearchRun::RememberGain(const CandidateRow& candidate, const v1::JobResult& result) {
  if (!remembers() || candidate.call_id.empty()) return absl::OkStatus();
  EvaluatedChange change;
  change.task = &context_.task;
  change.config = &context_.config;
  change.run_id = run_id_;
  change.candidate_id = candidate.candidate_id;
  change.result = &result;
  std::optional<v1::JobResult> parent;
  if (!candidate.parent_candidate_id.empty()) {
    ASSIGN_OR_RETURN(parent, ReadParent(candidate.parent_candidate_id));
    if (!parent.has_value()) return absl::OkStatus();
    change.parent = &*parent;
  }
  ASSIGN_OR_RETURN(const LlmCallRow call, parts_.store->ReadCall(candidate.call_id));
  const std::string idea = IdeaIn(call.reply);
  change.idea = idea;
  std::string title;
  if (const v1::WorldModel* model = strategy_->world_model(); model != nullptr) {
    for (const v1::Node& node : model->nodes()) {
      if (node.node_id() != candidate.node_id) continue;
      title = absl::StrCat(node.action().title(), " ", node.choice());
    }
  }
  change.title = title;
  if (std::optional<v1::MeasuredGain> gain = GainOf(change); gain.has_value()) {
    pending_.gains.push_back(*std::move(gain));
  }
  return absl::OkStatus();
}

void SearchRun::ForgetGain(const std::string& candidate_id) {
  if (remembers()) pending_.refused_gains.push_back(candidate_id);
}

}  // namespace ksearch
