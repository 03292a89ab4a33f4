#include "coordinator/search/attempts/sequential.h"

#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

constexpr int kDefaultHistory = 8;

// The program of `record` if it was screened and does not work; null otherwise.
const v1::ScreenedProgram* FailedProgram(const v1::EvaluationLogState& log,
                                         const v1::AttemptRecord& record) {
  const auto known = log.screened().find(record.candidate_id());
  return known == log.screened().end() || known->second.passed() ? nullptr : &known->second;
}

}  // namespace

void Sequential::Complete(v1::SequentialSettings* settings, SettingFaults* faults) {
  if (!settings->has_history()) settings->set_history(kDefaultHistory);
  faults->Range("sequential.history", settings->history(), 0, kKeptAttempts);
  settings->set_reply_form(CompleteReplyForm("sequential.reply_form", settings->reply_form(),
                                             v1::REPLY_FORM_WHOLE, faults));
}

v1::AttemptPlan Sequential::Plan(State* state, Rng& /*rng*/) const {
  v1::AttemptPlan plan;
  const auto& ended = state->ended();
  plan.set_history(history_);
  plan.set_reply_form(reply_form_);
  if (const v1::ScreenedProgram* best = BestStanding(state->log()); best != nullptr) {
    plan.set_kind(v1::AttemptPlan::REFINE);
    plan.set_base_id(best->candidate_id());
    // An older attempt's result is shown in its line.
    if (!ended.empty() && ended.rbegin()->base_id() == plan.base_id() &&
        FailedProgram(state->log(), *ended.rbegin()) != nullptr) {
      plan.set_failed_id(ended.rbegin()->candidate_id());
    }
    return plan;
  }
  for (auto record = ended.rbegin(); record != ended.rend(); ++record) {
    if (FailedProgram(state->log(), *record) == nullptr) continue;
    plan.set_kind(v1::AttemptPlan::REPAIR);
    plan.set_failed_id(record->candidate_id());
    return plan;
  }
  if (const auto given = GivenPrograms(state->log()); !given.empty()) {
    plan.set_kind(v1::AttemptPlan::REPAIR);
    plan.set_failed_id(given.front()->candidate_id());
    return plan;
  }
  plan.set_kind(v1::AttemptPlan::SAMPLE);
  return plan;
}

}  // namespace ksearch
