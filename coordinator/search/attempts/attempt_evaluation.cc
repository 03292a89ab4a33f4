// AttemptSearch: the evaluation of an attempt's program: its screening, then its examination and
// its profile if they are wanted; with the last result the attempt ends.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"
#include "coordinator/search/attempts/attempt_search.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"

namespace ksearch {
namespace {

std::string ScreenTag(const v1::AttemptState& attempt) {
  return absl::StrCat("attempt/", attempt.round());
}

}  // namespace

bool AttemptSearch::ServeScreen(v1::AttemptState* attempt, StepOutput* out) {
  if (!attempt->screen_tag().empty() || !attempt->examine_tag().empty() ||
      !attempt->profile_tag().empty()) {
    return false;
  }
  const std::string candidate_id = attempt->candidate_id();
  const bool awaited = FindAttempt([&](const v1::AttemptState& other) {
                         return other.candidate_id() == candidate_id &&
                                (!other.screen_tag().empty() || !other.examine_tag().empty() ||
                                 !other.profile_tag().empty() || other.embedding_call() != 0);
                       }) != nullptr;
  if (awaited) return false;  // one result serves both
  if (const v1::ScreenedProgram* known = log().Find(candidate_id); known != nullptr) {
    if (known->round() == attempt->round()) {
      // The attempt's own examination: the run failed before it was done.
      absl::StatusOr<v1::ScreenedProgram> program = question().Load(candidate_id);
      if (!program.ok()) {
        Finish(State::FAILED, program.status().ToString());
        return false;
      }
      TakeScreened(*std::move(program), ScreenTag(*attempt), attempt, out);
      return true;
    }
    const std::string text = absl::StrCat("the same program as in round ", known->round(), " (",
                                          log().IsRefused(candidate_id)
                                              ? RefusalLine(*log().ConfirmationOf(candidate_id))
                                              : known->verdict(),
                                          ")");
    Tell(v1::RunEvent::NOTE, absl::StrCat("duplicate, not evaluated again: ", text), *attempt, out)
        ->set_candidate_id(candidate_id);
    EndAttempt(*attempt, text, /*repeated=*/true);
    return true;
  }
  // The other attempt's screening was lost with its worker, or its strategy did not keep it.
  auto sources = SourcesOf(*attempt);
  if (!sources.ok()) {
    Finish(State::FAILED, sources.status().ToString());
    return false;
  }
  Screen(*std::move(sources), attempt, out);
  return false;
}

void AttemptSearch::Screen(v1::Sources sources, v1::AttemptState* attempt, StepOutput* out) {
  ScreenCandidate screen;
  screen.tag = ScreenTag(*attempt);
  screen.sources = std::move(sources);
  screen.candidate_id = attempt->candidate_id();
  screen.parent_candidate_id = ShownProgram(attempt->plan());
  screen.call_number = attempt->code_call_number();
  screen.round = attempt->round();
  screen.attempt = attempt->round();
  attempt->set_screen_tag(screen.tag);
  out->screens.push_back(std::move(screen));
}

StepOutput AttemptSearch::OnScreened(const ScreenResult& result) {
  StepOutput out;
  if (state_.stage() == State::SEEDING && result.tag == state_.log().seed_tag()) {
    const auto seed = log().TakeSeed(result, context_.config, &out);
    if (seed.has_value()) SettleSeed(*seed, &out);
  } else if (log().TakeMoreSeed(result, context_.config, &out)) {
    SettleSeeds(&out);
  } else if (v1::AttemptState* attempt = FindAttempt([&](const v1::AttemptState& candidate) {
               return !result.tag.empty() && candidate.screen_tag() == result.tag;
             });
             attempt != nullptr) {
    attempt->clear_screen_tag();
    v1::ScreenedProgram program =
        log().Record(result.result, attempt->candidate_id(), v1::Sources(), attempt->round());
    DescribeVerdict(program, Tell(v1::RunEvent::NOTE, Verdict(program), *attempt, &out));
    TakeScreened(std::move(program), result.tag, attempt, &out);
  }
  Advance(&out);
  return out;
}

void AttemptSearch::TakeScreened(v1::ScreenedProgram program, const std::string& screen_tag,
                                 v1::AttemptState* attempt, StepOutput* out) {
  // The program itself is recorded as passed by now, so compare with the best of the others.
  std::optional<double> best_score;
  for (const auto& [id, other] : state_.log().screened()) {
    if (!other.passed() || id == program.candidate_id()) continue;
    best_score = std::max(best_score.value_or(other.score()), other.score());
  }
  if (log().WantsExamination(program, best_score)) {
    auto sources = question().SourcesOf(program.candidate_id());
    if (!sources.ok()) return Finish(State::FAILED, sources.status().ToString());
    ExamineCandidate examination;
    examination.tag = absl::StrCat(screen_tag, kExamineTagEnd);
    examination.sources = *std::move(sources);
    examination.candidate_id = program.candidate_id();
    examination.architecture = program.result().device().architecture();
    attempt->set_examine_tag(examination.tag);
    out->examinations.push_back(std::move(examination));
    return;
  }
  TakeExamined(std::move(program), screen_tag, attempt, out);
}

StepOutput AttemptSearch::OnExamined(const ScreenResult& result) {
  StepOutput out;
  v1::AttemptState* attempt = FindAttempt([&](const v1::AttemptState& candidate) {
    return !result.tag.empty() && candidate.examine_tag() == result.tag;
  });
  if (attempt != nullptr) {
    attempt->clear_examine_tag();
    const std::string candidate_id = attempt->candidate_id();
    const EvaluationLog::Examined examined = log().TakeExamination(
        result.result, candidate_id,
        proposer_.read_confirmation(context_.task, result.result, kBaselineRival));
    v1::RunEvent* event = Tell(v1::RunEvent::NOTE, examined.line, *attempt, &out);
    event->set_candidate_id(candidate_id);
    event->set_job_id(result.result.job_id());
    if (examined.refusal.has_value()) log().Withdraw(candidate_id);
    absl::StatusOr<v1::ScreenedProgram> program = question().Load(candidate_id);
    if (program.ok()) {
      TakeExamined(*std::move(program), std::string(absl::StripSuffix(result.tag, kExamineTagEnd)),
                   attempt, &out);
    } else {
      EndAttempt(*attempt, "");
    }
  }
  Advance(&out);
  return out;
}

void AttemptSearch::TakeExamined(v1::ScreenedProgram program, const std::string& screen_tag,
                                 v1::AttemptState* attempt, StepOutput* out) {
  if (log().WantsProfile(program, rules_.shows_profiles && rounds_left())) {
    auto sources = question().SourcesOf(program.candidate_id());
    if (sources.ok()) {
      *program.mutable_sources() = *std::move(sources);
      out->profiles.push_back(log().ProfilingOf(program, screen_tag));
      attempt->set_profile_tag(out->profiles.back().tag);
      return;
    }
  }
  EndAttempt(*attempt, "");
}

StepOutput AttemptSearch::OnProfiled(const ScreenResult& result) {
  StepOutput out;
  if (const auto seed = log().TakeSeedProfile(result, &out); seed.has_value()) {
    SettleSeed(*seed, &out);
  } else if (log().TakeMoreSeed(result, context_.config, &out)) {
    SettleSeeds(&out);
  } else if (v1::AttemptState* attempt = FindAttempt([&](const v1::AttemptState& candidate) {
               return !result.tag.empty() && candidate.profile_tag() == result.tag;
             });
             attempt != nullptr) {
    attempt->clear_profile_tag();
    v1::ScreenedProgram program;
    program.set_candidate_id(attempt->candidate_id());
    Tell(v1::RunEvent::NOTE, log().TakeProfile(result.result, &program), *attempt, &out)
        ->set_candidate_id(attempt->candidate_id());
    EndAttempt(*attempt, "");
  }
  Advance(&out);
  return out;
}

}  // namespace ksearch
