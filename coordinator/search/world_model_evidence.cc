// WorldModelStrategy: what other jobs than screenings and confirmations bring, the baseline's times
// before the first question, and examination and profile of a program between its screening and the
// end of its attempt.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/examination.h"
#include "coordinator/search/profiling.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/search/world_model_strategy.h"

namespace ksearch {

StepOutput WorldModelStrategy::OnBaseline(const ScreenResult& result) {
  StepOutput out;
  if (state_.stage() == v1::SearchState::BASELINE && result.tag == state_.baseline_tag()) {
    NoteBaselines(result.result, &state_);
    NotePeaks(result.result, &state_);
    const int timed = state_.baseline_us_size();
    AddEvent(v1::RunEvent::NOTE,
             timed > 0 ? absl::StrCat("the baseline was timed on ", timed, " workload(s)")
                       : absl::StrCat("the baseline was not timed: ", OutcomeLine(result.result)),
             &out);
    state_.clear_baseline_tag();
    state_.set_stage(context_.config.seed_solution_size() > 0 ? v1::SearchState::SEEDING
                                                              : v1::SearchState::INIT);
  }
  Advance(&out);
  return out;
}

bool WorldModelStrategy::BeginExamination(const v1::ScreenedProgram& program,
                                          const std::string& screen_tag, v1::CycleState* cycle,
                                          StepOutput* out) {
  if (!WantsExamination(settings_, state_, *cycle, program)) return false;
  out->examinations.push_back(ExaminationOf(program, screen_tag));
  cycle->set_examine_tag(out->examinations.back().tag);
  *cycle->mutable_examining() = program;
  return true;
}

void WorldModelStrategy::TakeExamined(const v1::ScreenedProgram& program,
                                      const std::string& screen_tag, const std::string& lesson,
                                      v1::CycleState* cycle, StepOutput* out) {
  if (WantsProfile(settings_, state_, program, rounds_left())) {
    out->profiles.push_back(ProfilingOf(settings_, program, screen_tag));
    cycle->set_profile_tag(out->profiles.back().tag);
    *cycle->mutable_profiling() = program;
    return;
  }
  EndAttempt(&program, lesson, cycle, out);
}

StepOutput WorldModelStrategy::OnProfiled(const ScreenResult& result) {
  StepOutput out;
  if (!result.tag.empty() && result.tag == state_.seed_profile_tag()) {
    state_.clear_seed_profile_tag();
    v1::ScreenedProgram program = state_.seed();
    AddEvent(v1::RunEvent::NOTE, TakeProfile(result.result, &program, &state_), &out)
        ->set_candidate_id(program.candidate_id());
    SettleSeed(std::move(program), &out);
  } else {
    for (v1::CycleState& cycle : *state_.mutable_cycles()) {
      if (result.tag.empty() || cycle.profile_tag() != result.tag) continue;
      v1::ScreenedProgram program = cycle.profiling();
      cycle.clear_profile_tag();
      cycle.clear_profiling();
      AddEvent(v1::RunEvent::NOTE, TakeProfile(result.result, &program, &state_), cycle, &out)
          ->set_candidate_id(program.candidate_id());
      EndAttempt(&program, "", &cycle, &out);
      break;
    }
  }
  Advance(&out);
  return out;
}

StepOutput WorldModelStrategy::OnExamined(const ScreenResult& result) {
  StepOutput out;
  for (v1::CycleState& cycle : *state_.mutable_cycles()) {
    if (result.tag.empty() || cycle.examine_tag() != result.tag) continue;
    const std::string lesson = LearnFromExamination(result.result, &cycle, &out);
    // As Withdraw left it: no longer passed, if it was refused.
    const v1::ScreenedProgram program = cycle.examining();
    cycle.clear_examine_tag();
    cycle.clear_examining();
    TakeExamined(program, std::string(absl::StripSuffix(result.tag, kExamineTagEnd)), lesson,
                 &cycle, &out);
    break;
  }
  Advance(&out);
  return out;
}

std::string WorldModelStrategy::LearnFromExamination(const v1::JobResult& result,
                                                     v1::CycleState* cycle, StepOutput* out) {
  const std::string candidate_id = cycle->examining().candidate_id();
  const auto tell = [&](const std::string& text) {
    v1::RunEvent* event = AddEvent(v1::RunEvent::NOTE, text, *cycle, out);
    event->set_candidate_id(candidate_id);
    event->set_job_id(result.job_id());
  };
  if (IsInfrastructureOutcome(result.outcome())) {
    tell(absl::StrCat("not examined: ", OutcomeLine(result)));
    return "";
  }
  if (const std::string missing = ToolIsMissing(result); !missing.empty()) {
    state_.set_examining_refused(missing);
    tell(absl::StrCat("not examined: ", missing, "; not asked for again in this run"));
    return "";
  }
  const v1::ConfirmedProgram examined = ReadExamination(
      result, calls_.proposer().read_confirmation(context_.task, result, "baseline"));
  // A confirmation that has ended meanwhile looked at more; another cycle's examination is this
  // one.
  const bool known = state_.confirmed().contains(candidate_id);
  if (!known && (examined.refused() || examined.findings_size() > 0)) {
    (*state_.mutable_confirmed())[candidate_id] = examined;
  }
  if (!examined.refused()) {
    tell(absl::StrCat("examined: ",
                      examined.findings_size() > 0 ? examined.findings(0) : "nothing was found"));
    return "";
  }
  tell(RefusalLine(examined));
  if (known) return "";
  Withdraw(candidate_id, examined, out);
  return "its program was refused";
}

}  // namespace ksearch
