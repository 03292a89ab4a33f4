#include "coordinator/search/tree_reviser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// Constants of K-Search's published code.
constexpr double kPromisingScore = 0.5;
constexpr double kBestContinuationScore = 0.6;
constexpr double kSolvedContinuationScore = 0.35;
constexpr int kContinuationDifficulty = 2;
constexpr double kLeastContinuationConfidence = 0.2;
constexpr int kHopelessDifficulty = 5;  // a continuation must be easier
constexpr size_t kPaperErrorLines = 12;
constexpr size_t kPaperReferenceInNotes = 1800;

constexpr int kWantedInitialActions = 3;
constexpr double kDirectActionScore = 0.5;

bool HasEasyOpenChild(const v1::WorldModel& model, absl::string_view node_id) {
  for (const v1::Node* child : ChildrenOf(model, node_id)) {
    if (IsOpenAction(model, *child) && child->action().difficulty() < kHopelessDifficulty) {
      return true;
    }
  }
  return false;
}

bool HasPromisingAction(const v1::WorldModel& model) {
  const auto frontier = Frontier(model);
  return std::any_of(frontier.begin(), frontier.end(),
                     [](const v1::Node* node) { return node->action().score() > kPromisingScore; });
}

bool BestLacksChild(const v1::WorldModel& model) {
  const v1::Node* best = BestNode(model);
  return best != nullptr && !HasOpenChild(model, best->node_id());
}

v1::Node Continuation(const v1::Node& parent, double score, std::string id) {
  v1::Node node;
  node.set_node_id(std::move(id));
  node.set_parent_id(parent.node_id());
  node.set_decision("continuation");
  node.set_choice("refine the program of the parent");
  node.set_overall_rating(std::max(0.0, parent.overall_rating()));
  node.set_confidence(std::max(kLeastContinuationConfidence, parent.confidence()));
  v1::Action* action = node.mutable_action();
  action->set_title(absl::StrCat("Refine the solution of ", parent.node_id()));
  action->set_description(
      "Keep what works in the parent's program. Find its largest remaining cost (memory traffic, "
      "launch and tail effects, instruction count, occupancy) and remove that one cost.");
  action->set_rationale("Inserted because the model proposed no continuation.");
  action->set_difficulty(kContinuationDifficulty);
  action->set_score(score);
  return node;
}

// `tell_kept`: with what was applied all the same.
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

std::string PaperErrorText(std::vector<std::string> errors) {
  if (errors.size() > kPaperErrorLines) errors.resize(kPaperErrorLines);
  return absl::StrCat("[REFINE_VALIDATION_FAILED]\n", absl::StrJoin(errors, "\n"));
}

std::string NoContinuation(const std::string& node_id) {
  return absl::StrCat("node ", node_id,
                      " was just solved and needs at least one open child action with difficulty "
                      "below 5: insert one under it (send the whole script again)");
}

}  // namespace

void TreeReviser::Tell(v1::RunEvent::Kind kind, absl::string_view text, int cycle, int round,
                       absl::string_view node_id) {
  v1::RunEvent* event = AddEvent(kind, text, &out_);
  event->set_cycle(cycle);
  event->set_round(round);
  event->set_node_id(std::string(node_id));
}

EditOptions TreeReviser::OptionsFor(int round, const v1::CycleState* own) const {
  EditOptions options;
  options.mode = settings_.paper ? EditMode::kPaper : EditMode::kTransactional;
  options.max_new_nodes = settings_.max_new_nodes;
  options.round = round;
  options.task = settings_.task;
  options.keep_valid = settings_.revised_rules;
  for (const v1::CycleState& cycle : state_.cycles()) {
    if (own == nullptr || cycle.cycle() != own->cycle()) {
      options.nodes_in_flight.push_back(cycle.node_id());
    }
  }
  return options;
}

EditReport TreeReviser::Apply(const v1::EditScript& script, const EditOptions& options) {
  return ApplyEdits(script, options, state_.mutable_world_model());
}

void TreeReviser::Report(const EditReport& report, int cycle, int round) {
  for (const std::string& id : report.inserted_ids) {
    // A script may remove what it has inserted.
    const v1::Node* node = FindNode(state_.world_model(), id);
    if (node == nullptr) continue;
    Tell(v1::RunEvent::NODE_INSERTED,
         absl::StrCat(node->action().title(), " (under ", node->parent_id(), ")"), cycle, round,
         id);
  }
  for (const std::string& id : report.removed_ids) {
    std::string text = "removed by the model";
    for (const v1::Tombstone& tombstone : state_.world_model().tombstones()) {
      if (tombstone.node_id() != id) continue;
      text = tombstone.title();
      if (!tombstone.reason().empty()) absl::StrAppend(&text, ": ", tombstone.reason());
    }
    Tell(v1::RunEvent::NODE_PRUNED, text, cycle, round, id);
  }
  if (!report.errors.empty()) {
    Tell(v1::RunEvent::EDIT_REJECTED,
         absl::StrCat(report.errors.size(),
                      report.applied ? " operation(s) skipped: " : " fault(s): ",
                      absl::StrJoin(report.errors, "; ")),
         cycle, round, "");
  }
}

void TreeReviser::Unusable(const absl::Status& status, int cycle, int round,
                           absl::string_view node_id) {
  Tell(v1::RunEvent::REPLY_UNUSABLE, absl::StrCat("edit script: ", std::string(status.message())),
       cycle, round, node_id);
}

void TreeReviser::InsertMachineNode(v1::Node node, int cycle, int round, absl::string_view why) {
  node.set_last_updated_round(round);
  const v1::Node* added = AppendNode(state_.mutable_world_model(), std::move(node));
  Tell(v1::RunEvent::NODE_INSERTED, absl::StrCat(added->action().title(), " (", why, ")"), cycle,
       round, added->node_id());
}

void TreeReviser::InsertDirectAction(absl::string_view why) {
  v1::Node node;
  node.set_decision("approach");
  node.set_choice("direct implementation");
  v1::Action* action = node.mutable_action();
  action->set_title("Direct implementation");
  action->set_description(
      "Write a correct, simple program for the specification with the access pattern that suits "
      "the hardware best, then improve it step by step.");
  action->set_rationale("Inserted because the model gave no usable actions.");
  action->set_difficulty(kContinuationDifficulty);
  node = UnderRoot(state_.world_model(), "direct", settings_.task, state_.rounds_started(),
                   kDirectActionScore, std::move(node));
  state_.set_direct_action_inserted(true);
  Tell(v1::RunEvent::NOTE, why, 0, state_.rounds_started(), node.node_id());
  InsertMachineNode(std::move(node), 0, state_.rounds_started(), "inserted by the machine");
}

// ---------------------------------------------------------------- INIT

Revision TreeReviser::Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) {
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
    if (settings_.paper || (usable && actions >= kWantedInitialActions)) {
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
  if (!last || settings_.paper) return revision;
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

bool TreeReviser::WantsProposals() const {
  const v1::WorldModel& model = state_.world_model();
  int wanted = settings_.wanted_frontier;
  // Before anything is measured the model knows no more than when it made the tree.
  if (settings_.revised_rules && state_.rounds_done() == 0) {
    wanted = std::min(wanted, settings_.parallel);
  }
  return static_cast<int>(Frontier(model).size()) < wanted || BestLacksChild(model);
}

v1::WorldModel TreeReviser::ProposedTree() const {
  v1::WorldModel tree = state_.world_model();
  for (const v1::EditScript& script : state_.propose().scripts()) {
    ApplyEdits(script, OptionsFor(state_.rounds_started() + 1, nullptr), &tree);
  }
  return tree;
}

std::string TreeReviser::ProposeRequirement() const {
  const v1::WorldModel tree = ProposedTree();
  std::vector<std::string> in_flight;
  for (const v1::CycleState& cycle : state_.cycles()) in_flight.push_back(cycle.node_id());
  const auto pickable = RankFrontier(tree, settings_.selection, in_flight);
  const bool promising = std::any_of(pickable.begin(), pickable.end(), [](const v1::Node* node) {
    return node->action().score() > kPromisingScore;
  });
  std::string text = "Insert at least one executable action (its parent is the root or solved)";
  absl::StrAppend(&text, settings_.paper || !promising ? " with a score above 0.5." : ".");
  if (!settings_.paper) {
    const int have = Frontier(tree).size();
    if (have < settings_.wanted_frontier) {
      absl::StrAppend(&text, " The frontier has ", have, " action(s), ", settings_.wanted_frontier,
                      " are wanted.");
    }
  }
  if (BestLacksChild(tree)) {
    absl::StrAppend(&text, " Node ", BestNode(tree)->node_id(),
                    " holds the best solution and has no open child: give it one.");
  }
  return text;
}

Revision TreeReviser::Propose(const absl::StatusOr<v1::EditScript>& script) {
  const int round = state_.rounds_started() + 1;
  v1::ProposeState* propose = state_.mutable_propose();
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), 0, round, "");
    revision.complaint = UnreadableText(script.status(), settings_.revised_rules);
    if (settings_.paper) {
      // Published: the tree stays as it was before the first attempt, without a fallback.
      state_.clear_propose();
      state_.set_proposing(false);
      revision.done = true;
    }
    return revision;
  }
  if (settings_.paper) {
    *propose->add_scripts() = *script;
    const v1::WorldModel tree = ProposedTree();
    revision.done = HasPromisingAction(tree) && !BestLacksChild(tree);
    return revision;
  }
  const EditReport report = Apply(*script, OptionsFor(round, nullptr));
  Report(report, 0, round);
  revision.done = report.applied;
  revision.complaint = ErrorText(report, settings_.revised_rules);
  return revision;
}

void TreeReviser::FinishPropose() {
  const int round = state_.rounds_started() + 1;
  for (const v1::EditScript& script : state_.propose().scripts()) {
    Report(Apply(script, OptionsFor(round, nullptr)), 0, round);
  }
  if (BestLacksChild(state_.world_model())) {
    const v1::Node& best = *BestNode(state_.world_model());
    // Published id: node_best_cont_r<round>_<k>, without the task.
    InsertMachineNode(Continuation(best, kBestContinuationScore,
                                   FreshId(state_.world_model(), "node_best_cont", "", round)),
                      0, round, "continues the best node");
  }
  if (!settings_.paper && Frontier(state_.world_model()).empty() && state_.cycles_size() == 0 &&
      !state_.direct_action_inserted()) {
    InsertDirectAction("the model proposed nothing to try; going on with one plain action");
  }
  state_.clear_propose();
  state_.set_proposing(false);
}

// ---------------------------------------------------------------- REFINE, TOO-HARD

Revision TreeReviser::Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) {
  const EditOptions options = OptionsFor(cycle->round(), cycle);
  Revision revision;
  if (!script.ok()) {
    Unusable(script.status(), cycle->cycle(), cycle->round(), cycle->node_id());
    revision.complaint = settings_.paper ? PaperErrorText({std::string(script.status().message())})
                                         : UnreadableText(script.status(), settings_.revised_rules);
    return revision;
  }
  if (settings_.paper) {
    // Every attempt stays applied, valid or not; the roots and solutions that the published
    // validation checks cannot be touched by a typed edit.
    const EditReport report = Apply(*script, options);
    Report(report, cycle->cycle(), cycle->round());
    std::vector<std::string> errors = report.errors;
    if (!HasEasyOpenChild(state_.world_model(), cycle->node_id())) {
      errors.push_back(NoContinuation(cycle->node_id()));
    }
    revision.done = errors.empty();
    if (!revision.done) revision.complaint = PaperErrorText(errors);
    return revision;
  }
  v1::WorldModel trial = state_.world_model();
  const EditReport report = ApplyEdits(*script, options, &trial);
  if (!report.applied) {
    if (!report.kept.empty()) *state_.mutable_world_model() = std::move(trial);
    Report(report, cycle->cycle(), cycle->round());
    revision.complaint = ErrorText(report, settings_.revised_rules);
  } else if (!HasEasyOpenChild(trial, cycle->node_id())) {
    *cycle->mutable_kept_script() = *script;
    cycle->set_keeps_script(true);
    revision.complaint = NoContinuation(cycle->node_id());
    Tell(v1::RunEvent::EDIT_REJECTED, revision.complaint, cycle->cycle(), cycle->round(),
         cycle->node_id());
  } else {
    *state_.mutable_world_model() = std::move(trial);
    Report(report, cycle->cycle(), cycle->round());
    cycle->clear_kept_script();
    cycle->set_keeps_script(false);
    revision.done = true;
  }
  return revision;
}

void TreeReviser::FinishRefine(const v1::CycleState& cycle) {
  if (cycle.keeps_script()) {
    // The tree may have moved on since; a script that no longer fits is dropped.
    Report(Apply(cycle.kept_script(), OptionsFor(cycle.round(), &cycle)), cycle.cycle(),
           cycle.round());
  }
  const v1::WorldModel& model = state_.world_model();
  if (HasEasyOpenChild(model, cycle.node_id())) return;
  const v1::Node* node = FindNode(model, cycle.node_id());
  // Its program was refused meanwhile, and then the model deleted the open node.
  if (node == nullptr) return;
  InsertMachineNode(Continuation(*node, kSolvedContinuationScore,
                                 FreshId(model, "node_", settings_.task, cycle.round(), "cont_")),
                    cycle.cycle(), cycle.round(), "continues the solved node");
}

Revision TreeReviser::NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                                  const v1::CycleState& cycle) {
  Revision revision;
  revision.done = settings_.paper;
  if (!script.ok()) {
    Unusable(script.status(), cycle.cycle(), cycle.round(), cycle.node_id());
    revision.complaint = settings_.paper ? std::string(script.status().message())
                                         : UnreadableText(script.status(), settings_.revised_rules);
    return revision;
  }
  const EditReport report = Apply(*script, OptionsFor(cycle.round(), &cycle));
  Report(report, cycle.cycle(), cycle.round());
  revision.complaint = ErrorText(report, settings_.revised_rules);
  revision.done = revision.done || report.applied;
  return revision;
}

void AppendReferenceToRoot(const std::string& reference_text, v1::WorldModel* model) {
  v1::Node* root = FindMutableNode(model, kRootId);
  if (reference_text.empty() || root == nullptr) return;
  root->set_notes(absl::StrCat(root->notes(), root->notes().empty() ? "" : "\n",
                               "Reference Implementation:\n",
                               CutText(reference_text, kPaperReferenceInNotes)));
}

}  // namespace ksearch
