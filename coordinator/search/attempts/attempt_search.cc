#include "coordinator/search/attempts/attempt_search.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/text_hash.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr int kDefaultRounds = 20;

EvaluationRules RulesOf(const SearchContext& context, const AttemptPolicy& policy) {
  EvaluationRules rules;
  rules.on_gpu = context.task.device() == v1::DEVICE_CLASS_CUDA;
  rules.profile = context.config.profile();
  rules.shows_profiles = policy.shows_results() || context.config.judge();
  rules.examine_new_bests = rules.on_gpu && context.config.evaluation().examine_new_bests();
  rules.floor_share = context.config.floor_share();
  return rules;
}

bool TimesBaselineFirst(const SearchContext& context) {
  const auto& baselines = context.task.baselines();
  return context.config.evaluation().time_baseline_first() &&
         std::any_of(baselines.begin(), baselines.end(), [&](const v1::Sources& sources) {
           return sources.language() == context.config.language();
         });
}

// Strategies with the same seed draw different numbers.
uint64_t KeyOf(const SearchContext& context, const std::string& name) {
  return Fnv1a(name) ^ context.config.seed();
}

}  // namespace

AttemptSearch::AttemptSearch(std::string name, const SearchContext& context,
                             AttemptProposer proposer, std::unique_ptr<const AttemptPolicy> policy)
    : name_(std::move(name)),
      context_(context),
      proposer_(std::move(proposer)),
      policy_(std::move(policy)),
      rules_(RulesOf(context_, *policy_)),
      random_key_(KeyOf(context_, name_)),
      rounds_(context_.config.rounds() > 0 ? context_.config.rounds() : kDefaultRounds),
      parallel_(std::max(1, context_.config.parallel())) {}

StepOutput AttemptSearch::Start() {
  state_.Clear();
  saved_.Restart();
  state_.set_version(kAttemptSearchStateVersion);
  state_.set_strategy(name_);
  state_.set_stage(TimesBaselineFirst(context_) ? State::BASELINE
                   : HasSeeds(context_.config)  ? State::SEEDING
                                                : State::ATTEMPTING);
  StepOutput out;
  Advance(&out);
  return out;
}

StepOutput AttemptSearch::OnBaseline(const ScreenResult& result) {
  StepOutput out;
  if (state_.stage() == State::BASELINE && log().TakeBaseline(result, &out)) {
    state_.set_stage(HasSeeds(context_.config) ? State::SEEDING : State::ATTEMPTING);
  }
  Advance(&out);
  return out;
}

void AttemptSearch::SettleSeed(const v1::ScreenedProgram& program, StepOutput* out) {
  if (const v1::ScreenedProgram* facts = log().Find(program.candidate_id()); facts != nullptr) {
    *state_.mutable_log()->mutable_seed() = *facts;
  } else {
    state_.mutable_log()->mutable_seed()->set_candidate_id(program.candidate_id());
  }
  if (!program.passed()) AddEvent(v1::RunEvent::NOTE, "the seed did not pass", out);
  SettleSeeds(out);
}

void AttemptSearch::SettleSeeds(StepOutput* out) {
  if (state_.stage() != State::SEEDING || !state_.log().seed_tag().empty() ||
      !log().HasMoreSeeds(context_.config) || !EmbedGiven(out)) {
    return;
  }
  state_.set_stage(State::ATTEMPTING);
  for (const v1::Sources& sources : GivenSources(context_.config)) {
    // A program lost with its worker is not known.
    const v1::ScreenedProgram* known = log().Find(CandidateId(sources));
    if (known == nullptr) continue;
    Rng rng = Random();
    v1::ProgramFeatures features = FeaturesOf(sources, policy_->sketches());
    if (const v1::GivenEmbedding* given = FindGivenEmbedding(known->candidate_id());
        given != nullptr && given->ended()) {
      features.set_embedding_call(given->call_number());
    }
    policy_->TakeGiven(*known, features, &state_, rng);
    state_.set_choices(static_cast<int64_t>(rng.position()));
  }
}

StepOutput AttemptSearch::OnConfirmed(const Confirmation& confirmation) {
  StepOutput out;
  const v1::ConfirmedProgram confirmed = log().TakeConfirmation(
      confirmation,
      proposer_.read_confirmation(context_.task, confirmation.result, confirmation.rival_id));
  if (confirmed.refused()) {
    log().Withdraw(confirmation.candidate_id);
    AddEvent(v1::RunEvent::NOTE,
             absl::StrCat("nothing more is built on it: ", RefusalLine(confirmed)), &out)
        ->set_candidate_id(confirmation.candidate_id);
    // The search had finished because of a program near the floor.
    if (state_.stage() == State::FINISHED && rounds_left() && log().FindAtFloor() == nullptr) {
      state_.set_stage(state_.resume_stage());
      state_.clear_finish_reason();
      out.reopened = true;
    }
  }
  Advance(&out);
  return out;
}

void AttemptSearch::Advance(StepOutput* out) {
  if (state_.stage() == State::BASELINE) log().TimeBaseline(out);
  if (state_.stage() == State::SEEDING) {
    if (state_.log().seed().candidate_id().empty()) log().ScreenSeed(context_.config, out);
    log().ScreenMoreSeeds(context_.config, out);
    if (state_.given_embeddings_size() > 0) SettleSeeds(out);
  }
  // Serving an attempt may end it, or fail the run.
  bool changed = true;
  while (changed && state_.stage() == State::ATTEMPTING) {
    changed = false;
    std::vector<int> rounds;
    for (const v1::AttemptState& attempt : state_.attempts()) rounds.push_back(attempt.round());
    for (const int round : rounds) {
      v1::AttemptState* attempt = FindAttempt(
          [&](const v1::AttemptState& candidate) { return candidate.round() == round; });
      if (state_.stage() != State::ATTEMPTING || attempt == nullptr) continue;
      if (attempt->embedding_call() != 0) continue;
      if (!attempt->candidate_id().empty()) {
        changed = ServeScreen(attempt, out) || changed;
      } else if (attempt->call_number() == 0) {
        Serve(attempt, out);
      }
    }
    ServeNotes(out);
    if (state_.stage() == State::ATTEMPTING && rounds_left() &&
        state_.attempts_size() < parallel_ && log().FindAtFloor() == nullptr &&
        policy_->MayBegin(state_)) {
      BeginAttempt();
      changed = true;
    }
  }
  if (state_.stage() == State::ATTEMPTING && state_.attempts_size() == 0) {
    const v1::ScreenedProgram* at_floor = log().FindAtFloor();
    if (!rounds_left()) {
      Finish(State::FINISHED, absl::StrCat("budget of ", rounds_, " rounds is spent"));
    } else if (at_floor != nullptr) {
      Finish(State::FINISHED, AtFloorText(*at_floor));
    }
  }
  out->finished = state_.stage() == State::FINISHED || state_.stage() == State::FAILED;
  out->failed = state_.stage() == State::FAILED;
  if (out->finished) out->finish_reason = state_.finish_reason();
}

v1::AttemptPlan AttemptSearch::Plan() {
  Rng rng = Random();
  v1::AttemptPlan plan = policy_->Plan(&state_, rng);
  state_.set_choices(static_cast<int64_t>(rng.position()));
  return plan;
}

void AttemptSearch::BeginAttempt() {
  v1::AttemptPlan plan = Plan();
  state_.set_rounds_started(state_.rounds_started() + 1);
  v1::AttemptState* attempt = state_.add_attempts();
  attempt->set_round(state_.rounds_started());
  *attempt->mutable_plan() = std::move(plan);
}

void AttemptSearch::Serve(v1::AttemptState* attempt, StepOutput* out) {
  if (attempt->judge().call_number() != 0) return;
  const std::string base_id = attempt->plan().base_id();
  if (attempt->plan().kind() != v1::AttemptPlan::REPAIR &&
      WantsJudge(context_, log().Find(base_id), attempt->judge())) {
    const int64_t call_number = Ask(question().ForJudge(*attempt), out);
    attempt->mutable_judge()->set_program_id(base_id);
    attempt->mutable_judge()->set_call_number(call_number);
    return;
  }
  attempt->set_call_number(Ask(question().ForProgram(*attempt), out));
}

int64_t AttemptSearch::Ask(absl::StatusOr<AskModel> ask, StepOutput* out) {
  if (!ask.ok()) {
    Finish(State::FAILED,
           absl::StrCat("a program to show cannot be read: ", ask.status().ToString()));
    return 0;
  }
  state_.set_calls_made(state_.calls_made() + 1);
  ask->call_number = state_.calls_made();
  out->asks.push_back(*std::move(ask));
  return state_.calls_made();
}

void AttemptSearch::EndAttempt(const v1::AttemptState& attempt, const std::string& fault,
                               bool repeated) {
  const v1::AttemptState ended = attempt;
  state_.set_rounds_done(state_.rounds_done() + 1);
  v1::AttemptRecord* record = state_.add_ended();
  record->set_round(ended.round());
  record->set_candidate_id(ended.candidate_id());
  record->set_idea(ended.idea());
  record->set_fault(OneLine(fault, kMaxReason));
  record->set_base_id(ended.plan().base_id());
  record->set_operation(ended.plan().operation());
  record->set_line(ended.plan().line());
  const int more = state_.ended_size() - kKeptAttempts;
  if (more > 0) state_.mutable_ended()->DeleteSubrange(0, more);
  RemoveAttempt(ended.round());
  Rng rng = Random();
  policy_->TakeEnded({ended, log().Find(ended.candidate_id()), repeated}, &state_, rng);
  state_.set_choices(static_cast<int64_t>(rng.position()));
}

void AttemptSearch::RemoveAttempt(int round) {
  auto* attempts = state_.mutable_attempts();
  for (int i = 0; i < attempts->size(); ++i) {
    if (attempts->Get(i).round() != round) continue;
    attempts->DeleteSubrange(i, 1);
    break;
  }
}

void AttemptSearch::Finish(State::Stage stage, const std::string& reason) {
  // Calls in flight may fail after the search has failed; the first reason is kept.
  if (state_.stage() == State::FINISHED || state_.stage() == State::FAILED) return;
  state_.set_resume_stage(state_.stage());
  state_.set_rounds_at_finish(rounds_);
  state_.set_stage(stage);
  state_.set_finish_reason(OneLine(reason, kMaxReason));
}

v1::RunEvent* AttemptSearch::Tell(v1::RunEvent::Kind kind, const std::string& text,
                                  const v1::AttemptState& attempt, StepOutput* out) const {
  v1::RunEvent* event = AddEvent(kind, text, out);
  event->set_round(attempt.round());
  return event;
}

v1::AttemptState* AttemptSearch::FindAttempt(
    const std::function<bool(const v1::AttemptState&)>& wanted) {
  auto* attempts = state_.mutable_attempts();
  const auto found = std::find_if(attempts->begin(), attempts->end(), wanted);
  return found == attempts->end() ? nullptr : &*found;
}

std::string AttemptSearch::Save() const {
  return saved_.Encode(state_, state_.log(), State::kLogFieldNumber);
}

absl::StatusOr<StepOutput> AttemptSearch::Restore(const std::string& state) {
  State read;
  if (!read.ParseFromString(state)) {
    return absl::DataLossError("the saved state of the search cannot be read");
  }
  if (read.version() != kAttemptSearchStateVersion || read.strategy() != name_) {
    return absl::DataLossError(
        absl::StrCat("the saved state of the search is version ", read.version(), " of strategy '",
                     read.strategy(), "'; this program reads version ", kAttemptSearchStateVersion,
                     " of '", name_, "' for this run"));
  }
  state_ = std::move(read);
  saved_.Restart();
  const bool grown = state_.stage() == State::FINISHED && rounds_ > state_.rounds_at_finish();
  if (state_.stage() == State::FAILED || grown) {
    state_.set_stage(state_.resume_stage());
    state_.clear_finish_reason();
    state_.mutable_log()->clear_consecutive_failures();
    state_.clear_embedding_refused();
  }
  StepOutput out;
  Advance(&out);
  return out;
}

void AttemptSearch::Describe(v1::RunStatus* status) const {
  status->set_rounds_done(state_.rounds_done());
  status->set_best_screened(state_.log().best_screened());
  status->set_candidates(state_.log().candidates());
  status->set_passed(state_.log().passed());
  status->clear_cycles();
  for (const v1::AttemptState& attempt : state_.attempts()) {
    v1::CycleStatus* shown = status->add_cycles();
    shown->set_cycle(attempt.round());
    shown->set_title(PurposeOf(attempt.plan().kind()));
    shown->set_attempt(attempt.round());
    shown->set_phase(attempt.embedding_call() != 0        ? "embedding"
                     : !attempt.examine_tag().empty()     ? "examining"
                     : !attempt.profile_tag().empty()     ? "profiling"
                     : !attempt.candidate_id().empty()    ? "evaluating"
                     : attempt.judge().call_number() != 0 ? "judging"
                                                          : "coding");
  }
}

}  // namespace ksearch
