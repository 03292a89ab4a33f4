#include "coordinator/search/attempts/attempt_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/identity.h"
#include "common/run_facts.h"
#include "common/text_hash.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr size_t kMaxReason = 300;
constexpr size_t kMaxComplaint = 4 << 10;
// Requests for notes in flight at once.
constexpr int kMaxNotes = 4;
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

std::string ScreenTag(const v1::AttemptState& attempt) {
  return absl::StrCat("attempt/", attempt.round());
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

// ---------------------------------------------------------------- inputs

StepOutput AttemptSearch::OnAnswer(const ModelAnswer& answer) {
  StepOutput out;
  v1::AttemptState* attempt = FindAttempt([&](const v1::AttemptState& candidate) {
    return answer.call_number != 0 && (candidate.call_number() == answer.call_number ||
                                       candidate.embedding_call() == answer.call_number ||
                                       candidate.judge().call_number() == answer.call_number);
  });
  if (attempt == nullptr) {
    if (FoldGivenEmbedding(answer, &out)) {
      SettleSeeds(&out);
    } else {
      FoldNote(answer, &out);
    }
  } else if (attempt->embedding_call() == answer.call_number) {
    FoldEmbedding(answer, attempt, &out);
  } else if (attempt->judge().call_number() == answer.call_number) {
    FoldVerdict(answer, attempt, &out);
  } else if (answer.status.ok()) {
    log().NoteAnswer();
    FoldAnswer(answer.reply, attempt, &out);
  } else {
    FoldFailedCall(answer.status, attempt, &out);
  }
  Advance(&out);
  return out;
}

void AttemptSearch::FoldVerdict(const ModelAnswer& answer, v1::AttemptState* attempt,
                                StepOutput* out) {
  v1::JudgeState* judge = attempt->mutable_judge();
  if (answer.status.ok()) {
    log().NoteAnswer();
    Tell(v1::RunEvent::NOTE, TakeVerdict(proposer_.judge, answer.reply.text, judge), *attempt, out);
    return;
  }
  judge->clear_call_number();
  Tell(v1::RunEvent::NOTE,
       absl::StrCat("model call ", answer.call_number, " failed: ", answer.status.ToString()),
       *attempt, out);
  // The call is made again when the search is resumed.
  if (const auto stop = log().NoteFailedCall(answer.status); stop.has_value()) {
    return Finish(State::FAILED, *stop);
  }
  GiveUpJudge(judge);
}

void AttemptSearch::FoldNote(const ModelAnswer& answer, StepOutput* out) {
  auto* notes = state_.mutable_notes();
  const auto found = std::find_if(notes->begin(), notes->end(), [&](const v1::NoteState& note) {
    return answer.call_number != 0 && note.call_number() == answer.call_number;
  });
  if (found == notes->end()) return;
  found->clear_call_number();
  std::vector<std::string> points;
  std::string fault;
  if (!answer.status.ok()) {
    fault = answer.status.ToString();
    if (const auto stop = log().NoteFailedCall(answer.status); stop.has_value()) {
      return Finish(State::FAILED, *stop);  // a resumed search makes the call again
    }
  } else {
    log().NoteAnswer();
    absl::StatusOr<std::vector<std::string>> read =
        proposer_.parse_points(answer.reply.text, found->wanted());
    if (read.ok()) points = *std::move(read);
    fault = std::string(read.status().message());
    if (points.empty() && !found->asked_again()) {
      found->set_asked_again(true);
      found->set_complaint(OneLine(fault, kMaxReason));
      return;
    }
  }
  AddEvent(v1::RunEvent::NOTE,
           points.empty() ? absl::StrCat(found->purpose(), ": no answer of use: ", fault)
                          : absl::StrCat(found->purpose(), ": ", points.size(), " points"),
           out);
  const v1::NoteState note = *found;
  notes->erase(found);
  policy_->TakeNote(note, points, &state_);
}

absl::StatusOr<v1::Sources> AttemptSearch::ProgramOf(const LlmReply& reply,
                                                     const v1::AttemptPlan& plan) const {
  const v1::ReplyForm form = plan.reply_form();
  const bool whole = form == v1::REPLY_FORM_UNSPECIFIED || form == v1::REPLY_FORM_WHOLE;
  if (whole || ShownProgram(plan).empty() || proposer_.parse_patch == nullptr) {
    return ProgramIn(reply, proposer_.parse_code, context_.config.language());
  }
  // The prompt showed the program, so it is available.
  const absl::StatusOr<v1::Sources> base = question().SourcesOf(ShownProgram(plan));
  if (!base.ok()) return absl::UnavailableError(base.status().message());
  const auto parse = [&](const std::string& text, v1::Language) {
    return proposer_.parse_patch(text, *base, form);
  };
  return ProgramIn(reply, parse, context_.config.language());
}

void AttemptSearch::FoldAnswer(const LlmReply& reply, v1::AttemptState* attempt, StepOutput* out) {
  const int64_t call_number = attempt->call_number();
  const absl::StatusOr<v1::Sources> sources = ProgramOf(reply, attempt->plan());
  attempt->clear_call_number();
  if (absl::IsUnavailable(sources.status())) {
    return Finish(State::FAILED,
                  absl::StrCat("a program to change cannot be read: ", sources.status().message()));
  }
  if (!sources.ok()) {
    const std::string fault(sources.status().message());
    Tell(v1::RunEvent::REPLY_UNUSABLE, fault, *attempt, out);
    if (!attempt->asked_again()) {
      attempt->set_asked_again(true);
      attempt->set_complaint(CutMiddle(fault, kMaxComplaint));
      attempt->set_patch_failed(absl::IsFailedPrecondition(sources.status()));
      attempt->set_refused_reply(RefusedReply(reply.text));
      return;
    }
    Tell(v1::RunEvent::CANDIDATE_FAILED, absl::StrCat("no usable program: ", fault), *attempt, out);
    EndAttempt(*attempt, absl::StrCat("reply without a usable program: ", fault));
    return;
  }
  attempt->clear_complaint();
  attempt->clear_refused_reply();
  attempt->clear_patch_failed();
  attempt->set_code_call_number(call_number);
  attempt->set_candidate_id(CandidateId(*sources));
  attempt->set_idea(IdeaIn(reply.text));
  *attempt->mutable_features() = FeaturesOf(*sources, policy_->sketches());
  if (WantsEmbedding(*attempt)) {
    attempt->set_embedding_call(Ask(question().ForEmbedding(*sources, attempt->round()), out));
    out->decided_later = true;
    return;
  }
  Admit(*sources, attempt, out);
}

void AttemptSearch::Admit(const v1::Sources& sources, v1::AttemptState* attempt, StepOutput* out) {
  if (const auto objection = policy_->ObjectionTo(*attempt, state_); objection.has_value()) {
    return FoldObjection(*objection, attempt, out);
  }
  const bool awaited =
      FindAttempt([&](const v1::AttemptState& other) {
        return other.candidate_id() == attempt->candidate_id() && other.round() != attempt->round();
      }) != nullptr;
  // Only here are the sources at hand; later they are read by their id.
  if (awaited || log().Find(attempt->candidate_id()) != nullptr) return;
  ScreenCandidate screen;
  screen.tag = ScreenTag(*attempt);
  screen.sources = sources;
  screen.candidate_id = attempt->candidate_id();
  screen.parent_candidate_id = ShownProgram(attempt->plan());
  screen.call_number = attempt->code_call_number();
  screen.round = attempt->round();
  screen.attempt = attempt->round();
  attempt->set_screen_tag(screen.tag);
  const std::string& operation = attempt->plan().operation();
  Tell(v1::RunEvent::CANDIDATE_PROPOSED,
       absl::StrCat("attempt ", screen.attempt, ": ", screen.candidate_id.substr(0, 12),
                    operation.empty() ? "" : absl::StrCat(" (", operation, ")")),
       *attempt, out)
      ->set_candidate_id(screen.candidate_id);
  out->screens.push_back(std::move(screen));
}

void AttemptSearch::FoldObjection(const Objection& objection, v1::AttemptState* attempt,
                                  StepOutput* out) {
  Tell(v1::RunEvent::NOTE, absl::StrCat("not evaluated: ", objection.why), *attempt, out);
  if (objection.ends_attempt) {
    attempt->clear_candidate_id();
    EndAttempt(*attempt, objection.why);
    return;
  }
  v1::AttemptState anew;
  anew.set_round(attempt->round());
  anew.set_replies(attempt->replies() + 1);
  // The plan must not count this attempt as in progress.
  const int round = attempt->round();
  RemoveAttempt(round);
  *anew.mutable_plan() = Plan();
  *state_.add_attempts() = std::move(anew);
}

void AttemptSearch::FoldFailedCall(const absl::Status& status, v1::AttemptState* attempt,
                                   StepOutput* out) {
  const int64_t call_number = attempt->call_number();
  attempt->clear_call_number();
  Tell(v1::RunEvent::NOTE, absl::StrCat("model call ", call_number, " failed: ", status.ToString()),
       *attempt, out);
  // A resumed search still needs the answer.
  if (const auto stop = log().NoteFailedCall(status); stop.has_value()) {
    Finish(State::FAILED, *stop);
    return;
  }
  Tell(v1::RunEvent::CANDIDATE_FAILED, "no reply from the model", *attempt, out);
  EndAttempt(*attempt, "no reply");
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

// ---------------------------------------------------------------- output

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

void AttemptSearch::ServeNotes(StepOutput* out) {
  while (state_.stage() == State::ATTEMPTING && rounds_left() && state_.notes_size() < kMaxNotes &&
         log().FindAtFloor() == nullptr) {
    std::optional<v1::NoteState> wanted = policy_->WantedNote(state_);
    if (!wanted.has_value()) break;
    *state_.add_notes() = *std::move(wanted);
  }
  for (v1::NoteState& note : *state_.mutable_notes()) {
    if (state_.stage() != State::ATTEMPTING || note.call_number() != 0) continue;
    note.set_call_number(Ask(question().ForNote(note), out));
  }
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
  ScreenCandidate screen;
  screen.tag = ScreenTag(*attempt);
  screen.sources = *std::move(sources);
  screen.candidate_id = candidate_id;
  screen.parent_candidate_id = ShownProgram(attempt->plan());
  screen.call_number = attempt->code_call_number();
  screen.round = attempt->round();
  screen.attempt = attempt->round();
  attempt->set_screen_tag(screen.tag);
  out->screens.push_back(std::move(screen));
  return false;
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

// ---------------------------------------------------------------- persistence, status

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
