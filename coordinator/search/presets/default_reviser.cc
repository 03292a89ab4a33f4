#include "coordinator/search/presets/default_reviser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/world_model/edit.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr int kWantedInitialActions = 3;
constexpr double kPromisingScore = 0.5;

// `tell_kept`: also lists what was applied nevertheless.
std::string ErrorText(const EditReport& report, bool tell_kept) {
  if (report.errors.empty() || !tell_kept) return absl::StrJoin(report.errors, "\n");
  return absl::StrCat(absl::StrJoin(report.errors, "\n"), "\n",
                      report.kept.empty()
                          ? "Nothing of the answer was applied: send it again as a whole."
                          : absl::StrCat("Applied already, not to be sent again: ",
                                         absl::StrJoin(report.kept, ", "), "."));
}

// The note on a reply that could not be read.
std::string UnreadableText(const absl::Status& status, bool tell_kept) {
  EditReport report;
  report.errors.emplace_back(status.message());
  return ErrorText(report, tell_kept);
}

}  // namespace

// ---------------------------------------------------------------- INIT

Revision DefaultReviser::Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) {
  EditOptions options = OptionsFor(0, nullptr);
  options.max_new_nodes = std::max(settings_.init_max_new_nodes, settings_.max_new_nodes);
  options.keep_valid = false;
  Revision revision;
  const auto ready = [&](const EditReport& report) {
    Report(report, 0, 0);
    revision.done = true;
  };
  if (!script.ok()) {
    Unusable(script.status(), 0, 0, "");
    revision.complaint = std::string(script.status().message());
  } else {
    v1::WorldModel trial = state_.world_model();
    const EditReport report = ApplyInitialModel(*script, options, &trial);
    const int actions = report.applied ? CountOpenActions(trial) : 0;
    const bool usable = report.applied && !Frontier(trial).empty();
    if (usable && actions >= kWantedInitialActions) {
      *state_.mutable_world_model() = std::move(trial);
      ready(report);
      return revision;
    }
    if (usable) {
      *state_.mutable_init_kept_script() = *script;
      state_.set_init_has_kept_script(true);
      revision.complaint = absl::StrCat("the tree has ", actions, " open action node(s), at least ",
                                        kWantedInitialActions,
                                        " are needed: nodes with action.title, directly under "
                                        "\"root\" (send the whole model again)");
      Tell(v1::RunEvent::EDIT_REJECTED, revision.complaint, 0, 0, "");
    } else if (report.applied) {
      revision.complaint =
          "no node can be worked on: put open action nodes directly under \"root\"";
      Tell(v1::RunEvent::EDIT_REJECTED, revision.complaint, 0, 0, "");
    } else {
      revision.complaint = ErrorText(report, /*tell_kept=*/false);
      Report(report, 0, 0);
    }
  }
  if (!last) return revision;
  if (state_.init_has_kept_script()) {
    Tell(v1::RunEvent::NOTE, "the first world model has fewer actions than asked for", 0, 0, "");
    ready(ApplyInitialModel(state_.init_kept_script(), options, state_.mutable_world_model()));
  } else {
    InsertDirectAction("no usable world model came; going on with one plain action");
    revision.done = true;
  }
  state_.clear_init_kept_script();
  state_.clear_init_has_kept_script();
  return revision;
}

// ---------------------------------------------------------------- PROPOSE

std::string DefaultReviser::ProposeRequirement() const {
  v1::WorldModel edited;
  const v1::WorldModel& tree = ProposedTree(&edited);
  std::vector<std::string> in_flight;
  for (const v1::CycleState& cycle : state_.cycles()) in_flight.push_back(cycle.node_id());
  const auto pickable = RankFrontier(tree, settings_.selection, in_flight);
  const bool promising = std::any_of(pickable.begin(), pickable.end(), [](const v1::Node* node) {
    return node->action().score() > kPromisingScore;
  });
  std::string text = "Insert at least one executable action (its parent is the root or solved)";
  absl::StrAppend(&text, promising ? "." : " with a score above 0.5.");
  const int have = Frontier(tree).size();
  if (have < settings_.wanted_frontier) {
    absl::StrAppend(&text, " The frontier has ", have, " action(s), ", settings_.wanted_frontier,
                    " are wanted.");
  }
  return absl::StrCat(text, DemandForBest(tree));
}

Revision DefaultReviser::Propose(const absl::StatusOr<v1::EditScript>& script) {
  const int round = state_.rounds_started() + 1;
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), 0, round, "");
    revision.complaint = UnreadableText(script.status(), settings_.revised_rules);
    return revision;
  }
  const EditReport report = Apply(*script, OptionsFor(round, nullptr));
  Report(report, 0, round);
  revision.done = report.applied;
  revision.complaint = ErrorText(report, settings_.revised_rules);
  return revision;
}

void DefaultReviser::FinishPropose() {
  ContinueBest(state_.rounds_started() + 1);
  if (Frontier(state_.world_model()).empty() && state_.cycles_size() == 0 &&
      !state_.direct_action_inserted()) {
    InsertDirectAction("the model proposed nothing to try; going on with one plain action");
  }
  state_.clear_propose();
  state_.set_proposing(false);
}

// ---------------------------------------------------------------- REFINE, TOO-HARD

Revision DefaultReviser::Refine(const absl::StatusOr<v1::EditScript>& script,
                                v1::CycleState* cycle) {
  const EditOptions options = OptionsFor(cycle->round(), cycle);
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), cycle->cycle(), cycle->round(), cycle->node_id());
    revision.complaint = UnreadableText(script.status(), settings_.revised_rules);
    return revision;
  }
  v1::WorldModel* const tree = state_.mutable_world_model();
  TreeUndo undo(tree);
  const EditReport report = ApplyEdits(*script, options, tree, &undo);
  if (!report.applied) {
    Report(report, cycle->cycle(), cycle->round());
    revision.complaint = ErrorText(report, settings_.revised_rules);
  } else if (!HasEasyOpenChild(*tree, cycle->node_id())) {
    undo.Undo();
    *cycle->mutable_kept_script() = *script;
    cycle->set_keeps_script(true);
    revision.complaint = NoContinuation(cycle->node_id());
    Tell(v1::RunEvent::EDIT_REJECTED, revision.complaint, cycle->cycle(), cycle->round(),
         cycle->node_id());
  } else {
    Report(report, cycle->cycle(), cycle->round());
    cycle->clear_kept_script();
    cycle->set_keeps_script(false);
    revision.done = true;
  }
  return revision;
}

void DefaultReviser::FinishRefine(const v1::CycleState& cycle) {
  if (cycle.keeps_script()) {
    // The tree may have moved on since; a script that no longer fits is dropped.
    Report(Apply(cycle.kept_script(), OptionsFor(cycle.round(), &cycle)), cycle.cycle(),
           cycle.round());
  }
  ContinueSolved(cycle, cycle.round());
}

Revision DefaultReviser::NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                                     const v1::CycleState& cycle) {
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), cycle.cycle(), cycle.round(), cycle.node_id());
    revision.complaint = UnreadableText(script.status(), settings_.revised_rules);
    return revision;
  }
  const EditReport report = Apply(*script, OptionsFor(cycle.round(), &cycle));
  Report(report, cycle.cycle(), cycle.round());
  revision.complaint = ErrorText(report, settings_.revised_rules);
  revision.done = report.applied;
  return revision;
}

}  // namespace ksearch
