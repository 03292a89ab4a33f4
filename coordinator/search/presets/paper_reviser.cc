#include "coordinator/search/presets/paper_reviser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/world_model/edit.h"

namespace ksearch {
namespace {

constexpr size_t kErrorLines = 12;  // of K-Search's published code

std::string ErrorText(std::vector<std::string> errors) {
  if (errors.size() > kErrorLines) errors.resize(kErrorLines);
  return absl::StrCat("[REFINE_VALIDATION_FAILED]\n", absl::StrJoin(errors, "\n"));
}

// The round that names what a refinement inserts: that of the program which solved the node.
int RefineRound(const v1::CycleState& cycle) { return cycle.best().round(); }

}  // namespace

Revision PaperReviser::Initialize(const absl::StatusOr<v1::EditScript>& script, bool /*last*/) {
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), 0, 0, "");
    revision.complaint = std::string(script.status().message());
    return revision;
  }
  Report(ApplyInitialModel(*script, OptionsFor(0, nullptr), state_.mutable_world_model()), 0, 0);
  revision.done = true;
  return revision;
}

std::string PaperReviser::ProposeRequirement() const {
  v1::WorldModel edited;
  return absl::StrCat(
      "Insert at least one executable action (its parent is the root or solved) with a score above "
      "0.5.",
      DemandForBest(ProposedTree(&edited)));
}

Revision PaperReviser::Propose(const absl::StatusOr<v1::EditScript>& script) {
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), 0, state_.rounds_started() + 1, "");
    revision.complaint = std::string(script.status().message());
    // The tree stays as it was before the first attempt, without a fallback.
    state_.clear_propose();
    state_.set_proposing(false);
    revision.done = true;
    return revision;
  }
  *state_.mutable_propose()->add_scripts() = *script;
  v1::WorldModel edited;
  revision.done = HasPromisingAction(ProposedTree(&edited));
  return revision;
}

void PaperReviser::FinishPropose() {
  const int round = state_.rounds_started() + 1;
  for (const v1::EditScript& script : state_.propose().scripts()) {
    Report(Apply(script, OptionsFor(round, nullptr)), 0, round);
  }
  ContinueBest(round);
  state_.clear_propose();
  state_.set_proposing(false);
}

Revision PaperReviser::Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) {
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), cycle->cycle(), cycle->round(), cycle->node_id());
    revision.complaint = ErrorText({std::string(script.status().message())});
    return revision;
  }
  // The roots and solutions that the published validation checks cannot be touched by a typed edit.
  const EditReport report = Apply(*script, OptionsFor(RefineRound(*cycle), cycle));
  Report(report, cycle->cycle(), cycle->round());
  std::vector<std::string> errors = report.errors;
  if (!HasEasyOpenChild(state_.world_model(), cycle->node_id())) {
    errors.push_back(NoContinuation(cycle->node_id()));
  }
  revision.done = errors.empty();
  if (!revision.done) revision.complaint = ErrorText(std::move(errors));
  return revision;
}

void PaperReviser::FinishRefine(const v1::CycleState& cycle) {
  ContinueSolved(cycle, RefineRound(cycle));
}

Revision PaperReviser::NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                                   const v1::CycleState& cycle) {
  Revision revision;
  revision.done = true;
  if (script.ok()) {
    Report(Apply(*script, OptionsFor(cycle.round(), &cycle)), cycle.cycle(), cycle.round());
  } else {
    Unusable(script.status(), cycle.cycle(), cycle.round(), cycle.node_id());
  }
  return revision;
}

}  // namespace ksearch
