#include "coordinator/search/tree_reviser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

constexpr int kMostOpsByHand = 64;  // as in a model's reply
constexpr double kDirectActionScore = 0.5;

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

// "score of tile is 0.90, prunes old: no gain" of a person's script.
std::string InWords(const v1::EditScript& script) {
  std::vector<std::string> parts;
  for (const v1::EditOp& op : script.ops()) {
    if (op.has_update() && op.update().patch().has_score()) {
      parts.push_back(absl::StrFormat("score of %s is %.2f", op.update().node_id(),
                                      op.update().patch().score()));
    } else if (op.has_update()) {
      parts.push_back(absl::StrCat("changes ", op.update().node_id()));
    } else if (op.has_insert()) {
      parts.push_back(absl::StrCat("adds \"", op.insert().node().title(), "\""));
    } else if (op.has_split()) {
      parts.push_back(absl::StrCat("splits ", op.split().node_id()));
    } else {
      const std::string& reason = op.remove().reason();
      parts.push_back(
          absl::StrCat("prunes ", op.remove().node_id(), reason.empty() ? "" : ": ", reason));
    }
  }
  return absl::StrJoin(parts, ", ");
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
  options.mode = settings_.edit_mode;
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

absl::Status TreeReviser::Steer(const v1::EditScript& script) {
  if (script.ops().empty() || script.ops_size() > kMostOpsByHand) {
    return absl::InvalidArgumentError(
        absl::StrCat("edits.ops: give 1 to ", kMostOpsByHand, " operations"));
  }
  const int round = state_.rounds_started();
  EditOptions options = OptionsFor(round, nullptr);
  options.mode = EditMode::kTransactional;
  options.keep_valid = false;
  options.max_new_nodes = kMostOpsByHand;
  const EditReport report = Apply(script, options);
  if (!report.applied) {
    return absl::InvalidArgumentError(absl::StrCat("edits: ", absl::StrJoin(report.errors, "; ")));
  }
  std::string node_id;
  if (script.ops_size() == 1) {
    const v1::EditOp& op = script.ops(0);
    node_id = op.has_update()   ? op.update().node_id()
              : op.has_split()  ? op.split().node_id()
              : op.has_remove() ? op.remove().node_id()
                                : report.inserted_ids.front();
  }
  Tell(v1::RunEvent::STEERED, absl::StrCat("a person: ", InWords(script)), 0, 0, node_id);
  Report(report, 0, round);
  return absl::OkStatus();
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

// ---------------------------------------------------------------- what a tree lacks

bool TreeReviser::HasPromisingAction(const v1::WorldModel& model) {
  const auto frontier = Frontier(model);
  return std::any_of(frontier.begin(), frontier.end(),
                     [](const v1::Node* node) { return node->action().score() > kPromisingScore; });
}

bool TreeReviser::BestLacksChild(const v1::WorldModel& model) {
  const v1::Node* best = BestNode(model);
  return best != nullptr && !HasOpenChild(model, best->node_id());
}

bool TreeReviser::HasEasyOpenChild(const v1::WorldModel& model, absl::string_view node_id) {
  for (const v1::Node* child : ChildrenOf(model, node_id)) {
    if (IsOpenAction(model, *child) && child->action().difficulty() < kHopelessDifficulty) {
      return true;
    }
  }
  return false;
}

std::string TreeReviser::NoContinuation(const std::string& node_id) {
  return absl::StrCat("node ", node_id,
                      " was just solved and needs at least one open child action with difficulty "
                      "below 5: insert one under it (send the whole script again)");
}

std::string TreeReviser::DemandForBest(const v1::WorldModel& model) {
  if (!BestLacksChild(model)) return "";
  return absl::StrCat(" Node ", BestNode(model)->node_id(),
                      " holds the best solution and has no open child: give it one.");
}

bool TreeReviser::WantsProposals() const {
  const v1::WorldModel& model = state_.world_model();
  int wanted = settings_.wanted_frontier;
  // Before anything is measured the model knows no more than when it made the tree.
  if (settings_.revised_rules && state_.rounds_done() == 0) {
    wanted = std::min(wanted, settings_.parallel);
  }
  return static_cast<int>(Frontier(model).size()) < wanted || BestLacksChild(model);
}

const v1::WorldModel& TreeReviser::ProposedTree(v1::WorldModel* edited) const {
  if (state_.propose().scripts().empty()) return state_.world_model();
  *edited = state_.world_model();
  for (const v1::EditScript& script : state_.propose().scripts()) {
    ApplyEdits(script, OptionsFor(state_.rounds_started() + 1, nullptr), edited);
  }
  return *edited;
}

void TreeReviser::ContinueBest(int round) {
  const v1::WorldModel& model = state_.world_model();
  if (!BestLacksChild(model)) return;
  // Published id: node_best_cont_r<round>_<k>, without the task.
  InsertMachineNode(Continuation(*BestNode(model), kBestContinuationScore,
                                 FreshId(model, "node_best_cont", "", round)),
                    0, round, "continues the best node");
}

void TreeReviser::ContinueSolved(const v1::CycleState& cycle, int round) {
  const v1::WorldModel& model = state_.world_model();
  if (HasEasyOpenChild(model, cycle.node_id())) return;
  const v1::Node* node = FindNode(model, cycle.node_id());
  // Its program was refused meanwhile, and then the model deleted the open node.
  if (node == nullptr) return;
  InsertMachineNode(Continuation(*node, kSolvedContinuationScore,
                                 FreshId(model, "node_", settings_.task, round, "cont_")),
                    cycle.cycle(), round, "continues the solved node");
}

}  // namespace ksearch
