// WorldModelStrategy: the attempts of a cycle and its end.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/log.h"
#include "coordinator/search/action_cycle.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/search/world_model_strategy.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {

namespace {

// Two attempts show whether a program comes near the others; one may be a first draft.
constexpr int kAttemptsToBeDominated = 2;

}  // namespace

bool WorldModelStrategy::IsDominated(const v1::CycleState& cycle) const {
  const v1::CycleProgress& progress = cycle.progress();
  if (settings_.dominated_ratio <= 0 || progress.attempts() < kAttemptsToBeDominated ||
      !progress.has_best() || !cycle.repairs_candidate_id().empty()) {
    return false;
  }
  // Not best_screened: a program that was refused must not end the cycles of honest ones.
  double best = 0;
  for (const auto& [id, program] : state_.solutions()) best = std::max(best, program.score());
  for (const v1::CycleState& other : state_.cycles()) {
    if (other.progress().has_best()) best = std::max(best, other.progress().best_score());
  }
  return progress.best_score() < settings_.dominated_ratio * best;
}

void WorldModelStrategy::BeginAttempt(v1::CycleState* cycle) {
  state_.set_rounds_started(state_.rounds_started() + 1);
  cycle->set_round(state_.rounds_started());
  cycle->set_phase(v1::CycleState::CODING);
  cycle->clear_judge();
}

void WorldModelStrategy::EndAttempt(const v1::ScreenedProgram* program, const std::string& lesson,
                                    v1::CycleState* cycle, StepOutput* out) {
  state_.set_rounds_done(state_.rounds_done() + 1);
  cycle->clear_screen_tag();
  cycle->clear_awaited_candidate_id();
  cycle->clear_awaited_sources();
  cycle->clear_asked_again();
  AttemptOutcome outcome;
  // Asked for before the cycle's best was refused: the repair comes next, whatever the window says.
  const bool overtaken = WasJustRefused(*cycle) && (program == nullptr || !program->passed());
  if (program != nullptr) {
    outcome = {program->passed(), program->score()};
    // The next prompt is to show the refused program, not a failed variation of it.
    if (!overtaken) *cycle->mutable_last() = *program;
    policy_->NoteProgram(*program, &state_);
  }
  if (!lesson.empty() || overtaken) {
    cycle->add_lessons(
        absl::StrCat("round ", cycle->round(), ": ", lesson.empty() ? "no result" : lesson));
  }
  const double before = cycle->progress().has_best() ? cycle->progress().best_score()
                                                     : cycle->progress().base_score();
  AttemptEffect effect =
      FoldAttempt(outcome, settings_.stagnation_window, cycle->mutable_progress());
  if (overtaken) {
    cycle->mutable_progress()->set_not_better(0);
    effect.stagnant = false;
  }
  if (effect.new_best) {
    *cycle->mutable_best() = *program;
    policy_->NoteGain(*program, before, *cycle, &state_);
  }
  cycle->clear_plan();
  const bool dominated = !effect.stagnant && IsDominated(*cycle);
  if (dominated) {
    AddEvent(v1::RunEvent::NOTE,
             absl::StrFormat("ends early: its best, %.2f, is below %.0f %% of the run's",
                             cycle->progress().best_score(), 100 * settings_.dominated_ratio),
             *cycle, out);
  }
  const v1::ScreenedProgram* at_floor = log().FindAtFloor();
  if (at_floor != nullptr && !effect.stagnant && !dominated) {
    AddEvent(v1::RunEvent::NOTE, absl::StrCat("ends: ", AtFloorText(*at_floor)), *cycle, out);
  }
  // Closed meanwhile: confirmations refused one program of it after the other.
  const v1::Node* node = FindNode(state_.world_model(), cycle->node_id());
  const bool closed = node != nullptr && node->closed_too_hard();
  if (effect.stagnant || dominated || closed || !rounds_left() || at_floor != nullptr) {
    EndCycle(cycle, out);
  } else {
    BeginAttempt(cycle);
  }
}

void WorldModelStrategy::EndCycle(v1::CycleState* cycle, StepOutput* out) {
  v1::WorldModel* model = state_.mutable_world_model();
  const std::string& node_id = cycle->node_id();
  cycle->clear_complaint();
  cycle->clear_refused_reply();
  policy_->NoteLessons(*cycle, model);
  const std::string tally = absl::StrCat(cycle->progress().attempts(), " attempt(s)");
  if (cycle->progress().has_best()) {
    const v1::ScreenedProgram& best = cycle->best();
    CHECK_OK(AttachSolution(model, node_id, SolutionOf(best, cycle->base_candidate_id())));
    KeepSolution(best);
    state_.mutable_to_repair()->erase(node_id);
    if (const v1::ConfirmedProgram* confirmed = log().ConfirmationOf(best.candidate_id());
        confirmed != nullptr && confirmed->has_speedup()) {
      NoteConfirmedSpeedup(model, best.candidate_id(), confirmed->speedup());
    }
    v1::RunEvent* event = AddEvent(v1::RunEvent::NODE_SOLVED,
                                   absl::StrCat(Verdict(best), " after ", tally), *cycle, out);
    event->set_candidate_id(best.candidate_id());
    event->set_score(best.score());
    cycle->set_phase(v1::CycleState::REFINING);
  } else {
    const std::string consequence = policy_->NoteTooHard(settings_, *cycle, &state_);
    AddEvent(v1::RunEvent::NODE_TOO_HARD, absl::StrCat("nothing passed in ", tally, consequence),
             *cycle, out);
    cycle->set_phase(v1::CycleState::TOO_HARD);
  }
  const bool last = !rounds_left() || log().FindAtFloor() != nullptr;
  if (!policy_->RevisesAtTheEnd() && last) RemoveCycle(cycle->cycle());
}

void WorldModelStrategy::RemoveCycle(int cycle) {
  auto* cycles = state_.mutable_cycles();
  for (int i = 0; i < cycles->size(); ++i) {
    if (cycles->Get(i).cycle() != cycle) continue;
    cycles->DeleteSubrange(i, 1);
    break;
  }
  state_.clear_proposed_for_cycle();
}

}  // namespace ksearch
