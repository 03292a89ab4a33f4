#include "coordinator/search/evaluation_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/examination.h"
#include "coordinator/search/profiling.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"

namespace ksearch {
namespace {

// Model calls that fail in a row before the search stops and waits for a person.
constexpr int kMaxConsecutiveFailures = 3;

// The program as kept in a log that holds only ids.
v1::ScreenedProgram FactsAlone(v1::ScreenedProgram program) {
  program.set_verdict(Verdict(program));
  if (program.passed()) program.set_score_error(ScoreError(program.result()));
  v1::JobResult kept;
  kept.set_job_id(program.result().job_id());
  kept.set_outcome(program.result().outcome());
  *program.mutable_result() = std::move(kept);
  program.clear_sources();
  return program;
}

}  // namespace

void EvaluationLog::TimeBaseline(StepOutput* out) {
  if (!state_.baseline_tag().empty()) return;
  state_.set_baseline_tag(kBaselineTag);
  out->times_baseline = true;
}

bool EvaluationLog::TakeBaseline(const ScreenResult& result, StepOutput* out) {
  if (state_.baseline_tag().empty() || result.tag != state_.baseline_tag()) return false;
  NoteBaselines(result.result, &state_);
  NotePeaks(result.result, &state_);
  const int timed = state_.baseline_us_size();
  AddEvent(v1::RunEvent::NOTE,
           timed > 0 ? absl::StrCat("the baseline was timed on ", timed, " workload(s)")
                     : absl::StrCat("the baseline was not timed: ", OutcomeLine(result.result)),
           out);
  state_.clear_baseline_tag();
  return true;
}

void EvaluationLog::ScreenSeed(const v1::RunConfig& config, StepOutput* out) {
  if (!state_.seed_tag().empty()) return;
  ScreenCandidate screen = SeedScreen(SeedSources(config), 0);
  screen.node_id = rules_.seed_node;
  state_.set_seed_tag(screen.tag);
  v1::RunEvent* event = AddEvent(v1::RunEvent::CANDIDATE_PROPOSED, "the given seed solution", out);
  event->set_candidate_id(screen.candidate_id);
  event->set_node_id(rules_.seed_node);
  out->screens.push_back(std::move(screen));
}

std::optional<v1::ScreenedProgram> EvaluationLog::TakeSeed(const ScreenResult& result,
                                                           const v1::RunConfig& config,
                                                           StepOutput* out) {
  if (state_.seed_tag().empty() || result.tag != state_.seed_tag()) return std::nullopt;
  const v1::Sources sources = SeedSources(config);
  v1::ScreenedProgram program = Record(result.result, CandidateId(sources), sources, 0);
  v1::RunEvent* event = AddEvent(v1::RunEvent::NOTE, absl::StrCat("seed: ", Verdict(program)), out);
  DescribeVerdict(program, event);
  event->set_node_id(rules_.seed_node);
  const std::string screen_tag = state_.seed_tag();
  if (WantsProfile(program, /*shown=*/true)) {
    out->profiles.push_back(ProfilingOf(program, screen_tag));
    state_.set_seed_profile_tag(out->profiles.back().tag);
    *state_.mutable_seed() = rules_.keeps_results ? std::move(program) : FactsAlone(program);
    return std::nullopt;
  }
  state_.clear_seed_tag();
  return program;
}

std::optional<v1::ScreenedProgram> EvaluationLog::TakeSeedProfile(const ScreenResult& result,
                                                                  StepOutput* out) {
  if (result.tag.empty() || result.tag != state_.seed_profile_tag()) return std::nullopt;
  state_.clear_seed_profile_tag();
  v1::ScreenedProgram program = state_.seed();
  AddEvent(v1::RunEvent::NOTE, TakeProfile(result.result, &program), out)
      ->set_candidate_id(program.candidate_id());
  state_.clear_seed_tag();
  return program;
}

void EvaluationLog::ScreenMoreSeeds(const v1::RunConfig& config, StepOutput* out) {
  const std::vector<v1::Sources> given = GivenSources(config);
  for (size_t i = static_cast<size_t>(state_.more_seeds_size()) + 1; i < given.size(); ++i) {
    ScreenCandidate screen = SeedScreen(given[i], static_cast<int>(i));
    screen.node_id = rules_.seed_node;
    state_.add_more_seeds()->set_screen_tag(screen.tag);
    v1::RunEvent* event = AddEvent(v1::RunEvent::CANDIDATE_PROPOSED,
                                   absl::StrCat("the given seed solution ", i + 1), out);
    event->set_candidate_id(screen.candidate_id);
    event->set_node_id(rules_.seed_node);
    out->screens.push_back(std::move(screen));
  }
}

bool EvaluationLog::TakeMoreSeed(const ScreenResult& result, const v1::RunConfig& config,
                                 StepOutput* out) {
  if (result.tag.empty()) return false;
  for (int i = 0; i < state_.more_seeds_size(); ++i) {
    v1::GivenProgram* given = state_.mutable_more_seeds(i);
    if (given->profile_tag() == result.tag) {
      given->clear_profile_tag();
      v1::ScreenedProgram program = given->program();
      AddEvent(v1::RunEvent::NOTE, TakeProfile(result.result, &program), out)
          ->set_candidate_id(program.candidate_id());
      if (const v1::ScreenedProgram* known = Find(program.candidate_id());
          known != nullptr && !rules_.keeps_results) {
        program = *known;
      }
      *given->mutable_program() = std::move(program);
      return true;
    }
    if (given->screen_tag() != result.tag) continue;
    given->clear_screen_tag();
    const v1::Sources sources = GivenSources(config).at(static_cast<size_t>(i) + 1);
    v1::ScreenedProgram program = Record(result.result, CandidateId(sources), sources, 0);
    v1::RunEvent* event =
        AddEvent(v1::RunEvent::NOTE, absl::StrCat("seed ", i + 2, ": ", Verdict(program)), out);
    DescribeVerdict(program, event);
    event->set_node_id(rules_.seed_node);
    if (WantsProfile(program, /*shown=*/true)) {
      out->profiles.push_back(ProfilingOf(program, result.tag));
      given->set_profile_tag(out->profiles.back().tag);
    }
    // A program lost with its worker is not in the log.
    if (Find(program.candidate_id()) == nullptr) return true;
    *given->mutable_program() = rules_.keeps_results ? std::move(program) : FactsAlone(program);
    return true;
  }
  return false;
}

bool EvaluationLog::HasMoreSeeds(const v1::RunConfig& config) const {
  const size_t given = GivenSources(config).size();
  if (static_cast<size_t>(state_.more_seeds_size()) + 1 < given) return false;
  return std::all_of(state_.more_seeds().begin(), state_.more_seeds().end(),
                     [](const v1::GivenProgram& more) {
                       return more.screen_tag().empty() && more.profile_tag().empty();
                     });
}

v1::ScreenedProgram EvaluationLog::Record(const v1::JobResult& result,
                                          const std::string& candidate_id,
                                          const v1::Sources& sources, int round) {
  v1::ScreenedProgram program = ScreenedProgramOf(result, candidate_id, round, rules_.preset);
  if (rules_.floor_share > 0 && program.passed()) program.set_floor_share(FloorShare(result));
  state_.set_candidates(state_.candidates() + 1);
  NoteBaselines(result, &state_);
  NotePeaks(result, &state_);
  if (program.passed()) {
    state_.set_passed(state_.passed() + 1);
    state_.set_best_screened(std::max(state_.best_screened(), program.score()));
  }
  if (!IsInfrastructureOutcome(result.outcome())) {
    NoteFloors(program.result(), &state_);
    (*state_.mutable_screened())[candidate_id] =
        rules_.keeps_results ? Remembered(program) : FactsAlone(program);
    saved_.Change(candidate_id);
  }
  *program.mutable_sources() = sources;
  return program;
}

const v1::ScreenedProgram* EvaluationLog::Find(const std::string& candidate_id) const {
  const auto known = state_.screened().find(candidate_id);
  return known == state_.screened().end() ? nullptr : &known->second;
}

bool EvaluationLog::IsAtFloor(const v1::ScreenedProgram& program) const {
  return rules_.floor_share > 0 && program.passed() && program.floor_share() >= rules_.floor_share;
}

const v1::ScreenedProgram* EvaluationLog::FindAtFloor() const {
  if (rules_.floor_share <= 0) return nullptr;
  const v1::ScreenedProgram* nearest = nullptr;
  for (const auto& [id, program] : state_.screened()) {
    if (!IsAtFloor(program)) continue;
    // Ties are broken by id, so that the order of a hash map decides nothing.
    if (nearest == nullptr || program.floor_share() > nearest->floor_share() ||
        (program.floor_share() == nearest->floor_share() && id < nearest->candidate_id())) {
      nearest = &program;
    }
  }
  return nearest;
}

bool EvaluationLog::WantsProfile(const v1::ScreenedProgram& program, bool shown) const {
  return ksearch::WantsProfile(rules_, state_, program, shown);
}

ProfileCandidate EvaluationLog::ProfilingOf(const v1::ScreenedProgram& program,
                                            const std::string& screen_tag) const {
  return ksearch::ProfilingOf(rules_, program, screen_tag);
}

std::string EvaluationLog::TakeProfile(const v1::JobResult& result, v1::ScreenedProgram* program) {
  saved_.Change(program->candidate_id());
  return ksearch::TakeProfile(rules_, result, program, &state_);
}

bool EvaluationLog::WantsExamination(const v1::ScreenedProgram& program,
                                     std::optional<double> best_score) const {
  return ksearch::WantsExamination(rules_, state_, program, best_score);
}

EvaluationLog::Examined EvaluationLog::TakeExamination(const v1::JobResult& result,
                                                       const std::string& candidate_id,
                                                       const std::vector<std::string>& findings) {
  if (IsInfrastructureOutcome(result.outcome())) {
    return {absl::StrCat("not examined: ", OutcomeLine(result)), std::nullopt};
  }
  if (const std::string missing = ToolIsMissing(result); !missing.empty()) {
    state_.set_examining_refused(missing);
    return {absl::StrCat("not examined: ", missing, "; not asked for again in this run"),
            std::nullopt};
  }
  v1::ConfirmedProgram examined = ReadExamination(result, findings);
  // A confirmation that has ended meanwhile saw more; an examination requested twice is the same
  // one.
  const bool known = ConfirmationOf(candidate_id) != nullptr;
  if (!known && (examined.refused() || examined.findings_size() > 0)) {
    (*state_.mutable_confirmed())[candidate_id] = examined;
  }
  if (!examined.refused()) {
    return {absl::StrCat("examined: ",
                         examined.findings_size() > 0 ? examined.findings(0) : "nothing was found"),
            std::nullopt};
  }
  Examined taken;
  taken.line = RefusalLine(examined);
  if (!known) taken.refusal = std::move(examined);
  return taken;
}

v1::ConfirmedProgram EvaluationLog::TakeConfirmation(const Confirmation& confirmation,
                                                     const std::vector<std::string>& findings) {
  v1::ConfirmedProgram confirmed = ReadConfirmation(confirmation, findings);
  (*state_.mutable_confirmed())[confirmation.candidate_id] = confirmed;
  return confirmed;
}

const v1::ConfirmedProgram* EvaluationLog::ConfirmationOf(const std::string& candidate_id) const {
  const auto known = state_.confirmed().find(candidate_id);
  return known == state_.confirmed().end() ? nullptr : &known->second;
}

bool EvaluationLog::IsRefused(const std::string& candidate_id) const {
  const v1::ConfirmedProgram* confirmed = ConfirmationOf(candidate_id);
  return confirmed != nullptr && confirmed->refused();
}

void EvaluationLog::Withdraw(const std::string& candidate_id) {
  if (state_.seed().candidate_id() == candidate_id) {
    state_.mutable_seed()->set_passed(false);  // its profile may still be awaited
  }
  for (v1::GivenProgram& more : *state_.mutable_more_seeds()) {
    if (more.program().candidate_id() == candidate_id) more.mutable_program()->set_passed(false);
  }
  const auto screened = state_.mutable_screened()->find(candidate_id);
  if (screened == state_.mutable_screened()->end()) return;
  screened->second.set_passed(false);
  saved_.Change(candidate_id);
}

std::optional<std::string> EvaluationLog::NoteFailedCall(const absl::Status& status) {
  state_.set_consecutive_failures(state_.consecutive_failures() + 1);
  const bool terminal = IsTerminalLlmError(status.code());
  if (!terminal && state_.consecutive_failures() < kMaxConsecutiveFailures) return std::nullopt;
  return absl::StrCat(terminal ? "the model cannot be used: " : "model unreachable: ",
                      status.message());
}

}  // namespace ksearch
