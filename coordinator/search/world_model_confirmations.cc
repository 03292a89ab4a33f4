// WorldModelStrategy: what confirmations teach. A program that was refused, by an examination too,
// is withdrawn from wherever the search builds on it, and the node it solved waits for a repair.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/search/action_cycle.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/search/world_model_strategy.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// A node whose programs were refused this often is closed: its repairs do not hold.
constexpr int kMaxRefusals = 3;
constexpr double kRepairScore = 0.9;

// With its sources, wherever the state has them.
std::optional<v1::ScreenedProgram> FindProgram(const v1::SearchState& state,
                                               const std::string& candidate_id) {
  const auto solution = state.solutions().find(candidate_id);
  if (solution != state.solutions().end()) return solution->second;
  for (const v1::CycleState& cycle : state.cycles()) {
    for (const v1::ScreenedProgram* program :
         {&cycle.best(), &cycle.last(), &cycle.profiling(), &cycle.examining()}) {
      if (program->candidate_id() == candidate_id) return *program;
    }
  }
  return std::nullopt;
}

// The beginning of the lesson that a refused program leaves.
std::string RefusalBeginning(const std::string& candidate_id) {
  return absl::StrCat("program ", candidate_id.substr(0, 12));
}

v1::Node RepairOfSeed(const v1::WorldModel& model, const std::string& task, int round) {
  v1::Node node;
  node.set_decision("starting program");
  node.set_choice("the given program, repaired");
  v1::Action* action = node.mutable_action();
  action->set_title("Repair the given program");
  action->set_description(
      "Repair what the confirmation of the given program found, and nothing "
      "else.");
  action->set_rationale("Inserted because the given program was refused.");
  action->set_difficulty(2);
  return UnderRoot(model, "repair_seed", task, round, kRepairScore, std::move(node));
}

}  // namespace

bool WorldModelStrategy::WasJustRefused(const v1::CycleState& cycle) {
  return !cycle.repairs_candidate_id().empty() && cycle.lessons_size() > 0 &&
         absl::StartsWith(cycle.lessons(cycle.lessons_size() - 1),
                          RefusalBeginning(cycle.repairs_candidate_id()));
}

StepOutput WorldModelStrategy::OnConfirmed(const Confirmation& confirmation) {
  StepOutput out;
  if (!settings_.learn_from_confirmations) return out;
  const v1::ConfirmedProgram confirmed = log().TakeConfirmation(
      confirmation, calls_->proposer().read_confirmation(context_.task, confirmation.result,
                                                         confirmation.rival_id));
  if (confirmed.refused()) {
    Withdraw(confirmation.candidate_id, confirmed, &out);
    // It had finished for a program that was near the floor.
    if (settings_.evaluation.floor_share > 0 && state_.stage() == v1::SearchState::FINISHED &&
        rounds_left() && log().FindAtFloor() == nullptr) {
      state_.set_stage(state_.resume_stage());
      state_.clear_finish_reason();
      out.reopened = true;
    }
  } else if (confirmed.has_speedup()) {
    const int64_t before = state_.world_model().revision();
    NoteConfirmedSpeedup(state_.mutable_world_model(), confirmation.candidate_id,
                         confirmed.speedup());
    KeepProposedSince(before, &state_);
  }
  Advance(&out);
  return out;
}

void WorldModelStrategy::Withdraw(const std::string& candidate_id,
                                  const v1::ConfirmedProgram& confirmed, StepOutput* out) {
  std::optional<v1::ScreenedProgram> found = FindProgram(state_, candidate_id);
  log().Withdraw(candidate_id);
  const v1::ScreenedProgram& seed = state_.log().seed();
  if (!found.has_value() && seed.candidate_id() == candidate_id) found = seed;
  if (!found.has_value()) return;  // nothing builds on it
  v1::ScreenedProgram program = *found;
  program.set_passed(false);
  state_.mutable_solutions()->erase(candidate_id);
  saved_solutions_.Change(candidate_id);
  v1::WorldModel* model = state_.mutable_world_model();
  const std::string refusal = RefusalLine(confirmed);
  const std::string lesson =
      absl::StrCat(RefusalBeginning(candidate_id), " (", Verdict(*found), ") was ", refusal);

  std::vector<std::string> holders;
  for (const v1::Node& node : model->nodes()) {
    if (node.solution().candidate_id() == candidate_id) holders.push_back(node.node_id());
  }
  for (const std::string& node_id : holders) {
    WithdrawSolution(model, node_id);
    CountRefusal(model, node_id, kMaxRefusals);
    AddLesson(model, node_id, lesson);
    if (node_id == kRootId) {
      // The first model of the tree is made with the root alone.
      *state_.mutable_log()->mutable_seed() = program;
      if (state_.stage() != v1::SearchState::INIT) InsertRepairOfSeed(out);
      continue;
    }
    const bool closed = FindNode(*model, node_id)->closed_too_hard();
    v1::RunEvent* event =
        AddEvent(closed ? v1::RunEvent::NODE_TOO_HARD : v1::RunEvent::NOTE,
                 absl::StrCat(closed ? "closed: its program was again "
                                     : "open again, to be repaired: its program was ",
                              refusal),
                 out);
    event->set_node_id(node_id);
    event->set_candidate_id(candidate_id);
    if (!closed) (*state_.mutable_to_repair())[node_id] = program;
  }

  for (v1::CycleState& cycle : *state_.mutable_cycles()) {
    const bool trying =
        cycle.phase() == v1::CycleState::CODING || cycle.phase() == v1::CycleState::EVALUATING;
    if (!trying) continue;
    const bool is_best = cycle.best().candidate_id() == candidate_id;
    const bool is_profiled = cycle.profiling().candidate_id() == candidate_id;
    const bool is_examined = cycle.examining().candidate_id() == candidate_id;
    if (is_profiled) cycle.mutable_profiling()->set_passed(false);
    if (is_examined) cycle.mutable_examining()->set_passed(false);
    if (is_best) {
      cycle.clear_best();
      cycle.mutable_progress()->set_has_best(false);
      cycle.mutable_progress()->set_best_score(-1);
    }
    if (is_best || is_profiled || is_examined) {
      // The cycle continues from it: the next step is to repair it, with as many attempts again.
      // The count of refusals ends what cannot be repaired.
      cycle.mutable_progress()->set_not_better(0);
      cycle.mutable_progress()->set_below_base(0);
      *cycle.mutable_last() = program;
      cycle.set_repairs_candidate_id(candidate_id);
      cycle.add_lessons(lesson);
      (*state_.mutable_to_repair())[cycle.node_id()] = program;
      CountRefusal(model, cycle.node_id(), kMaxRefusals);
    } else if (cycle.last().candidate_id() == candidate_id) {
      cycle.mutable_last()->set_passed(false);
    }
    if (cycle.base_candidate_id() == candidate_id) {
      Rebase(&cycle);
      cycle.add_lessons(absl::StrCat("the base ", lesson, "; see that yours has not inherited it"));
    }
  }
}

void WorldModelStrategy::InsertRepairOfSeed(StepOutput* out) {
  const std::string& seed_id = state_.log().seed().candidate_id();
  if (!log().IsRefused(seed_id)) return;
  v1::WorldModel* model = state_.mutable_world_model();
  const v1::Node* node =
      AppendNode(model, RepairOfSeed(*model, settings_.task, state_.rounds_started()));
  const std::string node_id = node->node_id();
  const std::string refusal = RefusalLine(*log().ConfirmationOf(seed_id));
  AddLesson(model, node_id, absl::StrCat("the given program was ", refusal));
  (*state_.mutable_to_repair())[node_id] = state_.log().seed();
  AddEvent(v1::RunEvent::NODE_INSERTED, absl::StrCat("the given program was ", refusal), out)
      ->set_node_id(node_id);
}

void WorldModelStrategy::Rebase(v1::CycleState* cycle) {
  cycle->clear_base_candidate_id();
  cycle->mutable_progress()->set_base_score(-1);
  auto path = PathFromRoot(state_.world_model(), cycle->node_id());
  if (!path.empty()) path.pop_back();
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    if (!IsSolved(**node)) continue;
    cycle->set_base_candidate_id((*node)->solution().candidate_id());
    cycle->mutable_progress()->set_base_score((*node)->solution().score());
    return;
  }
}

const v1::Node* WorldModelStrategy::NodeToRepair() const {
  const std::vector<std::string> in_flight = NodesInFlight();
  const v1::Node* chosen = nullptr;
  double best = 0;
  // Sorted by id, so that the order of a hash map decides nothing.
  std::vector<std::string> ids;
  for (const auto& [node_id, program] : state_.to_repair()) ids.push_back(node_id);
  std::sort(ids.begin(), ids.end());
  for (const std::string& node_id : ids) {
    const v1::Node* node = FindNode(state_.world_model(), node_id);
    // A repair that failed takes its turn with the other intents.
    if (node == nullptr || !IsOpenAction(state_.world_model(), *node) ||
        node->too_hard_count() > 0 ||
        std::find(in_flight.begin(), in_flight.end(), node_id) != in_flight.end()) {
      continue;
    }
    const double score = state_.to_repair().at(node_id).score();
    if (chosen != nullptr && score <= best) continue;
    chosen = node;
    best = score;
  }
  return chosen;
}

void WorldModelStrategy::BeginRepair(v1::CycleState* cycle) {
  const auto program = state_.to_repair().find(cycle->node_id());
  if (program == state_.to_repair().end()) return;
  cycle->set_repairs_candidate_id(program->second.candidate_id());
  *cycle->mutable_last() = program->second;
}

}  // namespace ksearch
