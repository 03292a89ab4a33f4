// WorldModelStrategy: the attempts of a cycle and its end.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/log.h"
#include "coordinator/search/action_cycle.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/search/world_model_strategy.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {

void WorldModelStrategy::BeginAttempt(v1::CycleState* cycle) {
  state_.set_rounds_started(state_.rounds_started() + 1);
  cycle->set_round(state_.rounds_started());
  cycle->set_phase(v1::CycleState::CODING);
}

void WorldModelStrategy::EndAttempt(const v1::ScreenedProgram* program, const std::string& lesson,
                                    v1::CycleState* cycle, StepOutput* out) {
  state_.set_rounds_done(state_.rounds_done() + 1);
  cycle->clear_screen_tag();
  cycle->clear_awaited_candidate_id();
  cycle->clear_awaited_sources();
  cycle->clear_asked_again();
  AttemptOutcome outcome;
  if (program != nullptr) {
    outcome = {program->passed(), program->score()};
    *cycle->mutable_last() = *program;
    if (settings_.paper) *state_.mutable_last_program() = *program;
  }
  if (!lesson.empty()) cycle->add_lessons(absl::StrCat("round ", cycle->round(), ": ", lesson));
  const AttemptEffect effect =
      FoldAttempt(outcome, settings_.stagnation_window, cycle->mutable_progress());
  if (effect.new_best) *cycle->mutable_best() = *program;
  if (effect.stagnant || !rounds_left()) {
    EndCycle(cycle, out);
  } else {
    BeginAttempt(cycle);
  }
}

void WorldModelStrategy::EndCycle(v1::CycleState* cycle, StepOutput* out) {
  v1::WorldModel* model = state_.mutable_world_model();
  const std::string& node_id = cycle->node_id();
  cycle->clear_complaint();
  if (!settings_.paper) {
    for (const std::string& lesson : cycle->lessons()) AddLesson(model, node_id, lesson);
  }
  const std::string tally = absl::StrCat(cycle->progress().attempts(), " attempt(s)");
  if (cycle->progress().has_best()) {
    const v1::ScreenedProgram& best = cycle->best();
    CHECK_OK(AttachSolution(model, node_id, SolutionOf(best, cycle->base_candidate_id())));
    (*state_.mutable_solutions())[best.candidate_id()] = best;
    v1::RunEvent* event = AddEvent(v1::RunEvent::NODE_SOLVED,
                                   absl::StrCat(Verdict(best), " after ", tally), *cycle, out);
    event->set_candidate_id(best.candidate_id());
    event->set_score(best.score());
    cycle->set_phase(v1::CycleState::REFINING);
  } else {
    std::string text = absl::StrCat("nothing passed in ", tally);
    if (!settings_.paper) {
      const bool closed = RecordTooHard(model, node_id, settings_.too_hard_decay,
                                        settings_.too_hard_limit, cycle->round());
      absl::StrAppendFormat(&text, "; score lowered to %.2f",
                            FindNode(*model, node_id)->action().score());
      if (closed) absl::StrAppend(&text, "; closed");
    }
    AddEvent(v1::RunEvent::NODE_TOO_HARD, text, *cycle, out);
    cycle->set_phase(v1::CycleState::TOO_HARD);
  }
  // A revision that no later round can use is not worth its price; if the budget is raised later,
  // PROPOSE sees to the best node's continuation.
  if (!settings_.paper && !rounds_left()) RemoveCycle(cycle->cycle());
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
