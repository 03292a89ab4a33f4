#include "coordinator/search/racing/racing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/search/archive/draw.h"
#include "coordinator/search/racing/race_bounds.h"
#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

// A smaller gain does not count, whatever the intervals say.
constexpr double kLeastGain = 0.002;
// For how many attempts ahead a line is judged at most.
constexpr double kMostAttemptsAhead = 6;
// Attempts without a gain before a line may go back or be closed, or be shown the best program.
constexpr int kPatience = 4;
constexpr int kPatienceAlone = 2;
// Attempts to repair a failed program while its line has a working one.
constexpr int kRepairsBesideATip = 1;
constexpr size_t kMaxPlanShown = 160;
constexpr int kHistoryOfPlans = 12;
// Stands for a line's parent: a program that is no longer in any line's chain.
constexpr int kTheRunsBest = -1;

int InFlight(const v1::AttemptSearchState& state, int line) {
  return static_cast<int>(
      std::count_if(state.attempts().begin(), state.attempts().end(),
                    [&](const auto& attempt) { return attempt.plan().line() == line; }));
}

int OpenCount(const v1::RacingState& books) {
  return static_cast<int>(
      std::count_if(books.lines().begin(), books.lines().end(),
                    [](const auto& line) { return line.phase() == v1::RacingState::Line::OPEN; }));
}

double Noise(const v1::EvaluationLogState& log, const std::string& a, const std::string& b) {
  double squares = 0;
  for (const std::string& id : {a, b}) {
    const auto known = log.screened().find(id);
    if (known != log.screened().end()) {
      squares += known->second.score_error() * known->second.score_error();
    }
  }
  return std::max(kLeastGain, std::sqrt(squares));
}

// A program that its confirmation refused must not be built on.
void DropRefused(const v1::EvaluationLogState& log, v1::RacingState::Line* line) {
  while (line->chain_size() > 0 && !LogScore(log, *line->chain().rbegin()).has_value()) {
    line->mutable_chain()->RemoveLast();
  }
}

void Close(v1::RacingState::Line::Phase phase, v1::RacingState::Line* line) {
  line->set_phase(phase);
  line->clear_failed_id();
  // Other lines build only on its last program.
  if (const int more = line->chain_size() - 1; more > 0) {
    line->mutable_chain()->DeleteSubrange(0, more);
  }
}

}  // namespace

void Racing::Complete(int parallel, v1::RacingSettings* settings, SettingFaults* faults) {
  v1::RacingSettings* s = settings;
  if (!s->has_lines()) s->set_lines(std::clamp(parallel, 4, 64));
  if (!s->has_first_plans()) s->set_first_plans(std::min(s->lines(), 16));
  if (!s->has_least_attempts()) s->set_least_attempts(2);
  if (!s->has_optimism()) s->set_optimism(1.5);
  if (!s->has_momentum_decay()) s->set_momentum_decay(0.6);
  if (!s->has_least_momentum()) s->set_least_momentum(0.01);
  if (!s->has_back_tracks()) s->set_back_tracks(2);
  if (!s->has_repairs()) s->set_repairs(3);
  if (!s->has_history()) s->set_history(10);
  s->set_reply_form(
      CompleteReplyForm("racing.reply_form", s->reply_form(), v1::REPLY_FORM_WHOLE, faults));
  faults->Range("racing.lines", s->lines(), 1, 64);
  faults->Range("racing.first_plans", s->first_plans(), 0, 16);
  faults->Range("racing.least_attempts", s->least_attempts(), 1, 100);
  faults->Range("racing.optimism", s->optimism(), 0, 10);
  faults->Range("racing.momentum_decay", s->momentum_decay(), 0, 1);
  faults->Range("racing.least_momentum", s->least_momentum(), 0, 10);
  faults->Range("racing.back_tracks", s->back_tracks(), 0, 16);
  faults->Range("racing.repairs", s->repairs(), 0, 16);
  faults->Range("racing.history", s->history(), 0, kKeptAttempts);
}

// ---------------------------------------------------------------- plans

bool Racing::MayBegin(const State& state) const {
  return settings_.first_plans() == 0 || state.racing().plan_calls() > 0;
}

std::optional<v1::NoteState> Racing::WantedNote(const State& state) const {
  const v1::RacingState& books = state.racing();
  if (settings_.first_plans() == 0 || state.notes_size() > 0) return std::nullopt;
  if (books.plan_calls() > 0) {
    // Once for the number of concurrent lines, as soon as one of them weakens.
    const bool weak = std::any_of(books.lines().begin(), books.lines().end(), [](const Line& line) {
      return line.phase() != Line::OPEN || line.back_tracks() > 0;
    });
    if (!weak || books.waiting_plans_size() > 0 ||
        books.plan_calls() * settings_.lines() > books.last_line() ||
        rounds_ - state.rounds_started() < settings_.lines()) {
      return std::nullopt;
    }
  }
  v1::NoteState note;
  note.set_kind(v1::NoteState::PLANS);
  note.set_purpose("plan");
  note.set_wanted(settings_.first_plans());
  note.set_history(kHistoryOfPlans);
  for (const Line& line : books.lines()) {
    if (!line.plan().empty()) note.add_known(line.plan());
  }
  if (const int more = note.known_size() - kKeptAttempts; more > 0) {
    note.mutable_known()->DeleteSubrange(0, more);
  }
  if (const v1::ScreenedProgram* best = BestStanding(state.log()); best != nullptr) {
    note.add_program_ids(best->candidate_id());
  }
  return note;
}

void Racing::TakeNote(const v1::NoteState& /*note*/, const std::vector<std::string>& points,
                      State* state) const {
  v1::RacingState* books = state->mutable_racing();
  books->set_plan_calls(books->plan_calls() + 1);
  for (const std::string& point : points) books->add_waiting_plans(point);
}

// ---------------------------------------------------------------- lines

void Racing::TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& /*features*/,
                       State* state, Rng& /*rng*/) const {
  // Begins its own line if there is room; else later lines may begin from it.
  v1::RacingState* books = state->mutable_racing();
  if (OpenCount(*books) >= settings_.lines()) return;
  books->set_last_line(books->last_line() + 1);
  Line* line = books->add_lines();
  line->set_line(books->last_line());
  line->set_phase(Line::OPEN);
  if (program.passed()) {
    line->add_chain(program.candidate_id());
  } else {
    line->set_failed_id(program.candidate_id());
  }
}

void Racing::OpenLines(State* state, Rng& rng) const {
  while (OpenCount(state->racing()) < settings_.lines()) OpenLine(state, rng);
}

void Racing::OpenLine(State* state, Rng& rng) const {
  v1::RacingState* books = state->mutable_racing();
  // Programs to begin from, the best first: the last one of each line that was not dropped, and the
  // run's best, from which its line may have gone back.
  struct Start {
    double score = 0;
    int line = 0;
    std::string id;
  };
  std::vector<Start> starts;
  for (const Line& other : books->lines()) {
    const std::string tip = TipOf(state->log(), other);
    const auto score = LogScore(state->log(), tip);
    if (score.has_value() && other.phase() != Line::DROPPED) {
      starts.push_back({*score, other.line(), tip});
    }
  }
  const v1::ScreenedProgram* best = BestStanding(state->log());
  const bool known = best == nullptr || std::any_of(starts.begin(), starts.end(), [&](auto& start) {
                       return start.id == best->candidate_id();
                     });
  if (const auto score = known ? std::nullopt : LogScore(state->log(), best->candidate_id());
      score.has_value()) {
    starts.push_back({*score, kTheRunsBest, best->candidate_id()});
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  Line line;
  line.set_line(books->last_line() + 1);
  line.set_phase(Line::OPEN);
  if (books->waiting_plans_size() > 0) {
    line.set_plan(books->waiting_plans(0));
    books->mutable_waiting_plans()->DeleteSubrange(0, 1);
  }
  // The first lines begin from nothing, each with its own plan. A later line continues a program of
  // some line, better ones more likely: from nothing it would hardly catch up.
  const bool first = line.line() <= settings_.lines();
  if (!starts.empty() && !first) {
    std::vector<double> weights;
    for (size_t rank = 0; rank < starts.size(); ++rank) {
      weights.push_back(1.0 / static_cast<double>(rank + 1));
    }
    const Start& from = starts[DrawWeighted(weights, rng)];
    line.set_parent_line(from.line);
    line.add_chain(from.id);
  }
  books->set_last_line(line.line());
  *books->add_lines() = std::move(line);
}

double Racing::AttemptsFor(const State& state) const {
  const double left = std::max(0, rounds_ - state.rounds_started());
  return std::clamp(left / std::max(1, OpenCount(state.racing())), 1.0, kMostAttemptsAhead);
}

v1::RacingState::Line* Racing::ChooseLine(State* state) const {
  const double ahead = AttemptsFor(*state);
  Line* chosen = nullptr;
  int chosen_tries = 0;
  double chosen_bound = 0;
  for (Line& line : *state->mutable_racing()->mutable_lines()) {
    if (line.phase() != Line::OPEN) continue;
    // The first attempts of every line, in turn; then the line that may come farthest. What
    // attempts under way will gain is not counted twice.
    const int in_flight = InFlight(*state, line.line());
    const int tries = std::min(line.attempts() + in_flight, settings_.least_attempts());
    const double bound = UpperBound(*state, line, ahead / (1 + in_flight), settings_);
    if (chosen == nullptr || tries < chosen_tries ||
        (tries == chosen_tries && bound > chosen_bound)) {
      chosen = &line;
      chosen_tries = tries;
      chosen_bound = bound;
    }
  }
  return chosen;
}

v1::AttemptPlan Racing::Plan(State* state, Rng& rng) const {
  DropHopeless(state);
  OpenLines(state, rng);
  Line* line = ChooseLine(state);
  const std::string tip = TipOf(state->log(), *line);
  v1::AttemptPlan plan;
  plan.set_line(line->line());
  plan.set_history(settings_.history());
  plan.set_style(kStyleParent);
  plan.set_reply_form(settings_.reply_form());
  const int repairs =
      tip.empty() ? settings_.repairs() : std::min(settings_.repairs(), kRepairsBesideATip);
  const bool repaired_elsewhere = std::any_of(
      state->attempts().begin(), state->attempts().end(),
      [&](const auto& attempt) { return attempt.plan().failed_id() == line->failed_id(); });
  if (!line->failed_id().empty() && line->repairs() < repairs && !repaired_elsewhere) {
    plan.set_kind(v1::AttemptPlan::REPAIR);
    plan.set_failed_id(line->failed_id());
    plan.set_operation(absl::StrCat("line ", line->line(), ": repair"));
  } else if (!tip.empty()) {
    plan.set_kind(v1::AttemptPlan::REFINE);
    plan.set_base_id(tip);
    plan.set_operation(absl::StrCat("line ", line->line(), ": improve"));
    if (line->plan().empty() && line->parent_line() != 0 && line->attempts() == 0) {
      plan.set_style(kStyleNewAlgorithm);  // else it would repeat the other line
    }
  } else {
    plan.set_kind(v1::AttemptPlan::SAMPLE);
    plan.set_operation(absl::StrCat("line ", line->line(), ": begin"));
  }
  // Until a program realizes the plan, the plan is the direction.
  if (line->passed() == 0) plan.set_direction(line->plan());
  AddEvidence(*state, *line, &plan);
  return plan;
}

void Racing::AddEvidence(const State& state, const Line& line, v1::AttemptPlan* plan) const {
  const v1::ScreenedProgram* best = BestStanding(state.log());
  if (best != nullptr && plan->base_id() == best->candidate_id() && plan->style() == kStyleParent) {
    plan->set_style(kStyleBest);
  }
  // A stuck line is shown the best program of all.
  if (best != nullptr && line.since_gain() >= kPatienceAlone &&
      best->candidate_id() != plan->base_id()) {
    plan->add_inspiration_ids(best->candidate_id());
  }
  for (const Line& other : state.racing().lines()) {
    if (other.line() == line.line() || other.attempts() == 0) continue;
    const auto score = LogScore(state.log(), TipOf(state.log(), other));
    plan->add_notes(absl::StrCat(
        other.plan().empty() ? absl::StrCat("way ", other.line())
                             : other.plan().substr(0, kMaxPlanShown),
        ": ", score.has_value() ? absl::StrFormat("score %.3f", std::exp(*score)) : "nothing works",
        " after ", other.attempts(), " attempts",
        other.phase() == Line::OPEN      ? ""
        : other.phase() == Line::DROPPED ? ", given up as too slow"
                                         : ", given up, it gains no more"));
  }
  if (const int more = plan->notes_size() - settings_.history(); more > 0) {
    plan->mutable_notes()->DeleteSubrange(0, more);
  }
}

// ---------------------------------------------------------------- what came of an attempt

void Racing::TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const {
  v1::RacingState* books = state->mutable_racing();
  Line* line = nullptr;
  for (Line& known : *books->mutable_lines()) {
    if (known.line() == ended.attempt.plan().line()) line = &known;
  }
  if (line == nullptr) return;
  line->set_attempts(line->attempts() + 1);
  DropRefused(state->log(), line);
  TakeProgram(ended, line, state, rng);
  if (line->phase() == Line::OPEN) CheckMomentum(line, state, rng);
  DropHopeless(state);
}

void Racing::TakeProgram(const EndedAttempt& ended, Line* line, State* state, Rng& rng) const {
  const v1::AttemptPlan& plan = ended.attempt.plan();
  const v1::EvaluationLogState& log = state->log();
  const bool repair = plan.kind() == v1::AttemptPlan::REPAIR;
  const std::string& id = ended.attempt.candidate_id();
  const auto score = ended.program == nullptr ? std::nullopt : LogScore(log, id);
  if (!score.has_value()) {
    line->set_since_gain(line->since_gain() + 1);
    NoteGain(0, settings_.momentum_decay(), line);
    if (ended.program == nullptr) {
      line->set_empty_replies(line->empty_replies() + 1);
      if (repair) line->set_repairs(line->repairs() + 1);
      return;
    }
    line->set_empty_replies(0);
    line->set_repairs(repair ? line->repairs() + 1 : 0);
    line->set_failed_id(id);
    return;
  }
  line->set_empty_replies(0);
  line->set_passed(line->passed() + 1);
  line->clear_failed_id();
  line->set_repairs(0);
  const std::string tip = TipOf(log, *line);
  const auto before = LogScore(log, tip);
  // The line keeps the first program of its plan even if that is slower than the program that the
  // line began from: a plan is judged by its results, within the bounds of the race. The gain of
  // that first program is not defined.
  const bool begins = line->passed() == 1 && !line->plan().empty() && id != tip;
  if (!before.has_value() || begins) {
    line->add_chain(id);
    line->set_since_gain(0);
    return;
  }
  const double gain = *score - *before;
  const double noise = Noise(log, id, tip);
  NoteGain(std::max(0.0, gain), settings_.momentum_decay(), line);
  if (gain > noise) {
    line->add_chain(id);
    line->set_since_gain(0);
    return;
  }
  // As good as the tip, but another program: a way forward on a plateau.
  if (std::abs(gain) <= noise && id != tip && rng.NextBelow(2) == 0) {
    line->set_chain(line->chain_size() - 1, id);
  }
  line->set_since_gain(line->since_gain() + 1);
}

void Racing::CheckMomentum(Line* line, State* state, Rng& rng) const {
  if (line->since_gain() < kPatience || line->attempts() < settings_.least_attempts()) return;
  const std::string tip = TipOf(state->log(), *line);
  if (tip.empty()) {
    // None of the line's programs ever worked.
    if (line->attempts() >= settings_.least_attempts() + settings_.repairs()) {
      Close(Line::CLOSED, line);
    }
    return;
  }
  const auto momentum = Momentum(*line, settings_.momentum_decay());
  if (momentum.has_value() && *momentum >= settings_.least_momentum()) return;
  if (line->back_tracks() >= settings_.back_tracks() || line->chain_size() < 2) {
    Close(Line::CLOSED, line);
    return;
  }
  // Back to an earlier program, nearer ones more likely; later ones are dropped.
  std::vector<double> weights;
  for (int i = 0; i + 1 < line->chain_size(); ++i) {
    weights.push_back(1.0 / (line->chain_size() - 1 - i));
  }
  const int kept = static_cast<int>(DrawWeighted(weights, rng)) + 1;
  line->mutable_chain()->DeleteSubrange(kept, line->chain_size() - kept);
  line->set_back_tracks(line->back_tracks() + 1);
  line->set_since_gain(0);
  line->set_momentum(0);
  line->set_square(0);
  line->set_measured(0);
  line->clear_failed_id();
}

void Racing::DropHopeless(State* state) const {
  const auto bar = BarToBeat(state->log());
  if (!bar.has_value()) return;
  const double ahead = AttemptsFor(*state);
  for (Line& line : *state->mutable_racing()->mutable_lines()) {
    if (line.phase() != Line::OPEN || line.attempts() < settings_.least_attempts()) continue;
    if (TipOf(state->log(), line).empty()) continue;  // CheckMomentum handles it
    // The program that it went back to gets the least number of attempts, too.
    if (line.back_tracks() > 0 && line.measured() < settings_.least_attempts()) continue;
    if (UpperBound(*state, line, ahead, settings_) < *bar) Close(Line::DROPPED, &line);
  }
}

}  // namespace ksearch
