// WorldModelStrategy: what other jobs than screenings and confirmations bring, the baseline's times
// before the first question, and examination and profile of a program between its screening and the
// end of its attempt; and what a judge says of a program before the next one.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"
#include "coordinator/search/examination.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/search/world_model_strategy.h"

namespace ksearch {

StepOutput WorldModelStrategy::OnBaseline(const ScreenResult& result) {
  StepOutput out;
  if (state_.stage() == v1::SearchState::BASELINE && log().TakeBaseline(result, &out)) {
    state_.set_stage(HasSeeds(context_.config) ? v1::SearchState::SEEDING : v1::SearchState::INIT);
  }
  Advance(&out);
  return out;
}

bool WorldModelStrategy::BeginExamination(const v1::ScreenedProgram& program,
                                          const std::string& screen_tag, v1::CycleState* cycle,
                                          StepOutput* out) {
  std::optional<double> best_score;
  if (cycle->progress().has_best()) best_score = cycle->progress().best_score();
  if (!log().WantsExamination(program, best_score)) return false;
  out->examinations.push_back(ExaminationOf(program, screen_tag));
  cycle->set_examine_tag(out->examinations.back().tag);
  *cycle->mutable_examining() = program;
  return true;
}

void WorldModelStrategy::TakeExamined(const v1::ScreenedProgram& program,
                                      const std::string& screen_tag, const std::string& lesson,
                                      v1::CycleState* cycle, StepOutput* out) {
  if (log().WantsProfile(program, rounds_left())) {
    out->profiles.push_back(log().ProfilingOf(program, screen_tag));
    cycle->set_profile_tag(out->profiles.back().tag);
    *cycle->mutable_profiling() = program;
    return;
  }
  EndAttempt(&program, lesson, cycle, out);
}

bool WorldModelStrategy::FoldVerdict(const ModelAnswer& answer, StepOutput* out) {
  for (v1::CycleState& cycle : *state_.mutable_cycles()) {
    if (answer.call_number == 0 || cycle.judge().call_number() != answer.call_number) continue;
    v1::JudgeState* judge = cycle.mutable_judge();
    if (answer.status.ok()) {
      log().NoteAnswer();
      AddEvent(v1::RunEvent::NOTE, TakeVerdict(calls_->proposer().judge, answer.reply.text, judge),
               cycle, out);
      return true;
    }
    judge->clear_call_number();
    // The call is made again when the search is resumed.
    if (const auto stop = log().NoteFailedCall(answer.status); stop.has_value()) {
      Finish(v1::SearchState::FAILED, *stop);
    } else {
      AddEvent(
          v1::RunEvent::NOTE,
          absl::StrCat("model call ", answer.call_number, " failed: ", answer.status.message()),
          cycle, out);
      GiveUpJudge(judge);
    }
    return true;
  }
  return false;
}

StepOutput WorldModelStrategy::OnProfiled(const ScreenResult& result) {
  StepOutput out;
  if (auto seed = log().TakeSeedProfile(result, &out); seed.has_value()) {
    SettleSeed(*std::move(seed), &out);
  } else if (log().TakeMoreSeed(result, context_.config, &out)) {
    SettleSeeds();
  } else {
    for (v1::CycleState& cycle : *state_.mutable_cycles()) {
      if (result.tag.empty() || cycle.profile_tag() != result.tag) continue;
      v1::ScreenedProgram program = cycle.profiling();
      cycle.clear_profile_tag();
      cycle.clear_profiling();
      AddEvent(v1::RunEvent::NOTE, log().TakeProfile(result.result, &program), cycle, &out)
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
    // In the state after Withdraw: no longer passed, if it was refused.
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
  const EvaluationLog::Examined examined = log().TakeExamination(
      result, candidate_id,
      calls_->proposer().read_confirmation(context_.task, result, kBaselineRival));
  v1::RunEvent* event = AddEvent(v1::RunEvent::NOTE, examined.line, *cycle, out);
  event->set_candidate_id(candidate_id);
  event->set_job_id(result.job_id());
  if (!examined.refusal.has_value()) return "";
  Withdraw(candidate_id, *examined.refusal, out);
  return "its program was refused";
}

}  // namespace ksearch
