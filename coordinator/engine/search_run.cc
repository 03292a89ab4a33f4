#include "coordinator/engine/search_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/identity.h"
#include "common/measure_defaults.h"
#include "common/run_facts.h"
#include "common/run_priority.h"
#include "common/status_macros.h"
#include "common/task_evidence.h"
#include "common/textproto.h"
#include "common/trusted_programs.h"
#include "coordinator/engine/ledger_status.h"
#include "coordinator/engine/trial.h"
#include "coordinator/search/score.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

constexpr int kArrivalsPerRead = 256;

std::string CallId(const std::string& run_id, int64_t call_number) {
  return absl::StrCat(run_id, "/", call_number);
}

// The status whose text a failed call's row keeps: "NOT_FOUND: no such model". Empty: OK.
absl::Status CallFailure(const std::string& error) {
  if (error.empty()) return absl::OkStatus();
  const std::string name = error.substr(0, error.find(':'));
  for (int number = 1; number <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++number) {
    const auto code = static_cast<absl::StatusCode>(number);
    if (absl::StatusCodeToString(code) != name || error.size() < name.size() + 2) continue;
    return absl::Status(code, error.substr(name.size() + 2));
  }
  return absl::UnavailableError(error);
}

absl::StatusOr<int64_t> CallNumber(const std::string& call_id) {
  int64_t number = 0;
  if (absl::SimpleAtoi(call_id.substr(call_id.rfind('/') + 1), &number)) return number;
  return absl::DataLossError(absl::StrCat("call id '", call_id, "'"));
}

}  // namespace

SearchRun::SearchRun(const Parts& parts, const RunRow& row, SearchContext context,
                     std::unique_ptr<SearchStrategy> strategy, BudgetGate gate)
    : parts_(parts),
      run_id_(row.run_id),
      context_(std::move(context)),
      specs_(context_.task, context_.config.measure(), context_.config.limits(),
             TrialSalt(context_.config)),
      strategy_(std::move(strategy)),
      gate_(std::move(gate)),
      tracker_(WithDefaults(context_.config.measure()).min_effect()),
      order_({}, 0),
      status_(row.status),
      cursor_(row.cursor),
      committed_state_(row.state),
      committed_status_(row.status),
      committed_cursor_(row.cursor),
      counted_(parts.clock->SteadyNow()) {}

absl::StatusOr<std::unique_ptr<SearchRun>> SearchRun::Create(
    const Parts& parts, const RunRow& row, SearchContext context,
    std::unique_ptr<SearchStrategy> strategy, std::vector<std::string> order) {
  v1::RunEngineState state;
  if (!state.ParseFromString(row.state)) {
    return absl::DataLossError(absl::StrCat("state of run ", row.run_id, " is unreadable"));
  }
  ASSIGN_OR_RETURN(BudgetGate gate, BudgetGate::Create(context.config));
  auto run = std::unique_ptr<SearchRun>(
      new SearchRun(parts, row, std::move(context), std::move(strategy), std::move(gate)));
  run->fresh_ = row.state.empty();
  run->state_ = std::move(state);
  run->state_.set_rounds(run->context_.config.rounds());
  *run->state_.mutable_budget() = run->context_.config.budget();
  run->replays_ = !order.empty() || run->state_.fold_order_size() > 0;
  run->order_ = ArrivalOrder(std::move(order), run->state_.replay_position());
  run->tracker_.Restore(run->state_.incumbent());
  RETURN_IF_ERROR(run->FindPlatform());
  return run;
}

absl::Status SearchRun::Begin() {
  RETURN_IF_ERROR(parts_.store->PutBlob(specs_.task_sha256(), context_.task.SerializeAsString()));
  const v1::RunConfig& config = context_.config;
  const int priority = config.has_priority() ? config.priority() : kDefaultPriority;
  parts_.jobs->SetPriority(run_id_, priority);
  parts_.models->SetPriority(run_id_, priority);
  // Resuming a run also ends its pause; a restart of the coordinator does not.
  if (HasEnded(status_.state())) state_.set_paused(false);
  status_.set_state(v1::RUN_STATE_RUNNING);
  status_.clear_reason();
  status_.clear_failure_code();
  status_.clear_ended_at();
  pending_.caps = gate_.StoreCaps();
  v1::RunEvent event;
  if (fresh_) {
    event.set_kind(v1::RunEvent::RUN_STARTED);
    event.set_text(absl::StrCat("task ", context_.task.name(), ", ", context_.config.rounds(),
                                " rounds, ", context_.config.parallel(), " in flight, seed ",
                                context_.config.seed()));
    AddEvent(event);
    if (context_.config.has_memory_snapshot()) {
      const v1::MemorySnapshot& memory = context_.config.memory_snapshot();
      v1::RunEvent read;
      read.set_kind(v1::RunEvent::NOTE);
      read.set_text(absl::StrCat("memory: ", memory.priors_size(), " priors of ", memory.gains(),
                                 " measured gains"));
      AddEvent(read);
    }
    state_.set_task_sha256(specs_.task_sha256());
    RETURN_IF_ERROR(Take(strategy_->Start()));
    return Commit();
  }
  event.set_kind(v1::RunEvent::RUN_RESUMED);
  event.set_text(
      absl::StrCat("at round ", status_.rounds_done(), " of ", context_.config.rounds()));
  AddEvent(event);
  state_.set_strategy_finished(false);
  state_.set_strategy_failed(false);
  RETURN_IF_ERROR(ResumeCalls());
  ASSIGN_OR_RETURN(const StepOutput output, strategy_->Restore(state_.strategy_state()));
  state_.clear_strategy_state();
  RETURN_IF_ERROR(Take(output));
  RETURN_IF_ERROR(Commit());
  return ResumeJobs();
}

absl::Status SearchRun::ResumeCalls() {
  ASSIGN_OR_RETURN(const auto calls, parts_.store->ReadUnansweredCalls(run_id_));
  for (const LlmCallRow& call : calls) {
    if (!call.admitted || parts_.models->Knows(call.call_id)) continue;
    // With the saved state the provider can fetch the reply instead of generating another one.
    if (call.sent == absl::Time() || !call.provider_state.empty()) {
      parts_.models->Send(call, gate_.PriceOf(call.provider, call.model));
      continue;
    }
    v1::HeldAsk* ask = state_.add_held_asks();
    ASSIGN_OR_RETURN(const int64_t number, CallNumber(call.call_id));
    ask->set_call_number(number);
    ask->set_again(true);
    pending_.lost_calls.push_back(call.call_id);
  }
  return absl::OkStatus();
}

absl::Status SearchRun::ResumeJobs() {
  if (HasEnded(status_.state())) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto jobs, parts_.store->ReadUnfinishedJobs());
  for (const QueuedJob& job : jobs) {
    const auto& runs = job.run_ids;
    if (std::find(runs.begin(), runs.end(), run_id_) != runs.end()) {
      parts_.jobs->Submit(run_id_, job.job_id, job.spec);
    }
  }
  return absl::OkStatus();
}

absl::Status SearchRun::CancelWaiting() {
  parts_.models->Forget(run_id_);
  ASSIGN_OR_RETURN(const auto jobs, parts_.store->ReadUnfinishedJobs());
  for (const QueuedJob& job : jobs) {
    const bool ours =
        !job.run_ids.empty() && std::all_of(job.run_ids.begin(), job.run_ids.end(),
                                            [&](const std::string& id) { return id == run_id_; });
    if (ours) parts_.jobs->CancelQueued(job.job_id);
  }
  return absl::OkStatus();
}

SearchRun::Awaited SearchRun::awaited() const {
  Awaited awaited;
  for (const std::string& key : state_.outstanding()) {
    if (key.rfind("call/", 0) == 0) {
      awaited.calls.push_back(absl::StrCat(run_id_, "/", key.substr(5)));
    } else {
      ++awaited.evaluations;
    }
  }
  return awaited;
}

absl::StatusOr<SearchRun::Progress> SearchRun::ApplyNext() {
  if (HasEnded(status_.state())) return Progress::kEnded;
  // Arrivals folded out of order must not fill the page: the one awaited comes after them.
  ASSIGN_OR_RETURN(std::vector<Arrival> arrivals,
                   parts_.store->ReadArrivals(
                       run_id_, cursor_,
                       kArrivalsPerRead + state_.folded_ahead_size() + state_.outstanding_size()));
  const auto& ahead = state_.folded_ahead();
  arrivals.erase(std::remove_if(arrivals.begin(), arrivals.end(),
                                [&](const Arrival& arrival) {
                                  return std::find(ahead.begin(), ahead.end(), arrival.seq) !=
                                         ahead.end();
                                }),
                 arrivals.end());
  const absl::flat_hash_set<std::string> outstanding(state_.outstanding().begin(),
                                                     state_.outstanding().end());
  const std::optional<size_t> next = order_.Next(arrivals, outstanding);
  if (!next.has_value()) {
    if (!awaits_platform()) return Progress::kWaiting;
    RETURN_IF_ERROR(FindPlatform());
    if (awaits_platform()) return Progress::kWaiting;
    RETURN_IF_ERROR(Commit());
    return HasEnded(status_.state()) ? Progress::kEnded : Progress::kApplied;
  }
  state_.set_replay_position(order_.position());
  if (replays_) state_.add_fold_order(ArrivalKey(arrivals[*next]));
  RETURN_IF_ERROR(Apply(arrivals[*next]));
  if (*next == 0) {
    cursor_ = arrivals[0].seq;
  } else {
    state_.add_folded_ahead(arrivals[*next].seq);
  }
  if (state_.folded_ahead_size() > 0) {
    // Everything up to the first arrival not yet folded is behind the cursor now.
    arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(*next));
    if (!arrivals.empty()) cursor_ = arrivals[0].seq - 1;
    auto* folded = state_.mutable_folded_ahead();
    folded->erase(
        std::remove_if(folded->begin(), folded->end(), [&](int64_t seq) { return seq <= cursor_; }),
        folded->end());
  }
  RETURN_IF_ERROR(Commit());
  return HasEnded(status_.state()) ? Progress::kEnded : Progress::kApplied;
}

absl::Status SearchRun::End(v1::RunState state, const std::string& reason) {
  pending_ = StepCommit{};
  status_ = committed_status_;
  cause_ = StepCause();
  SetEnded(state, reason);
  DescribeEvents();
  pending_.run_id = run_id_;
  pending_.cursor = committed_cursor_;
  pending_.state = committed_state_;
  pending_.status = status_;
  return parts_.store->CommitStep(pending_);
}

void SearchRun::SetEnded(v1::RunState state, const std::string& reason) {
  status_.set_state(state);
  status_.set_reason(reason);
  *status_.mutable_ended_at() = ToProto(parts_.clock->Now());
  const char* how = state == v1::RUN_STATE_STOPPED         ? "stopped"
                    : state == v1::RUN_STATE_FAILED        ? "failed"
                    : state == v1::RUN_STATE_OUT_OF_BUDGET ? "out of budget"
                                                           : "finished";
  v1::RunEvent event;
  event.set_kind(v1::RunEvent::RUN_ENDED);
  event.set_text(absl::StrCat(how, reason.empty() ? "" : ": ", reason));
  AddEvent(event);
}

absl::Status SearchRun::Apply(const Arrival& arrival) {
  const std::string key = ArrivalKey(arrival);
  auto* outstanding = state_.mutable_outstanding();
  const auto it = std::find(outstanding->begin(), outstanding->end(), key);
  if (it == outstanding->end()) return absl::OkStatus();  // nothing waits for it
  outstanding->erase(it);
  return arrival.kind == Arrival::Kind::kReply ? FoldReply(arrival) : FoldResult(arrival);
}

void SearchRun::EndIfDone(const std::string& blocked) {
  const int held = state_.held_asks_size() + state_.held_jobs_size();
  if (held > 0 && !state_.paused() && state_.outstanding_size() <= held) {
    return SetEnded(v1::RUN_STATE_OUT_OF_BUDGET, blocked);
  }
  if (!state_.strategy_finished() || tracker_.busy() || state_.outstanding_size() > 0) return;
  SetEnded(state_.strategy_failed() ? v1::RUN_STATE_FAILED : v1::RUN_STATE_FINISHED,
           state_.finish_reason());
}

absl::Status SearchRun::FoldReply(const Arrival& arrival) {
  ASSIGN_OR_RETURN(const LlmCallRow call, parts_.store->ReadCall(arrival.ref));
  ModelAnswer answer;
  ASSIGN_OR_RETURN(answer.call_number, CallNumber(call.call_id));
  answer.status = CallFailure(call.error);
  answer.reply.text = call.reply;
  answer.reply.finish_reason = call.finish_reason;
  answer.reply.model = call.reply_model;
  answer.reply.usage = call.usage;
  state_.set_input_tokens(state_.input_tokens() + call.input_tokens);
  state_.set_output_tokens(state_.output_tokens() + call.output_tokens);
  cause_.call = call;
  const StepOutput output = strategy_->OnAnswer(answer);
  const bool screened = std::any_of(
      output.screens.begin(), output.screens.end(),
      [&](const ScreenCandidate& screen) { return screen.call_number == answer.call_number; });
  if (output.failed && status_.failure_code() == 0) {
    status_.set_failure_code(static_cast<int>(answer.status.code()));
  }
  gate_.NoteReply(call,
                  call.error.empty() && (screened || output.decided_later ||
                                         !WritesPrograms(context_.config.strategy(), call.role)),
                  &state_);
  for (const int64_t number : output.fruitless_calls) {
    ASSIGN_OR_RETURN(const LlmCallRow fruitless, parts_.store->ReadCall(CallId(run_id_, number)));
    gate_.NoteGain(fruitless, 0, &state_);
  }
  return Take(output);
}

absl::Status SearchRun::FoldResult(const Arrival& arrival) {
  ASSIGN_OR_RETURN(const std::optional<v1::JobResult> result,
                   parts_.store->ReadResult(arrival.ref));
  if (!result.has_value()) {
    return absl::DataLossError(absl::StrCat("job ", arrival.ref, " has an arrival but no result"));
  }
  cause_.result = *result;
  if (result->outcome() == v1::OUTCOME_TASK_ERROR) {
    ASSIGN_OR_RETURN(const v1::JobSpec faulty, parts_.store->ReadJob(arrival.ref));
    // A rival's fault concerns only that comparison.
    if (EvidenceOf(faulty, *result) == TaskEvidence::kFaulty) {
      return TaskAtFaultError(result->message());
    }
  }
  if (MustRepeat(*result, arrival.tag, state_.platform())) return Repeat(arrival, *result);
  const std::string tag(absl::StripSuffix(arrival.tag, kOwnPlatformTagEnd));
  if (tag.rfind("confirm/", 0) == 0) return FoldConfirmation(tag, *result);
  if (absl::EndsWith(tag, kProfileTagEnd)) return Take(strategy_->OnProfiled({tag, *result}));
  if (absl::EndsWith(tag, kExamineTagEnd)) return FoldExamination(tag, arrival.ref, *result);
  if (tag == kBaselineTag) return Take(strategy_->OnBaseline({tag, *result}));
  const StepOutput output = strategy_->OnScreened({tag, *result});
  RETURN_IF_ERROR(Take(output));
  ASSIGN_OR_RETURN(const v1::JobSpec spec, parts_.store->ReadJob(arrival.ref));
  const std::string candidate_id = CandidateId(spec.candidate());
  ASSIGN_OR_RETURN(CandidateRow candidate, parts_.store->ReadCandidate(run_id_, candidate_id));
  if (candidate.job_id != arrival.ref) {  // it waited for, or was repeated on, the run's platform
    candidate.job_id = arrival.ref;
    pending_.candidates.push_back(candidate);
  }
  // A program that a person gave says nothing about the models.
  if (!absl::StartsWith(tag, kGivenTagStart)) {
    RETURN_IF_ERROR(NoteGain(candidate, *result));
    RETURN_IF_ERROR(RememberGain(candidate, *result));
  }
  // A program about to be examined may have no confirmation to come.
  const bool examined = std::any_of(output.examinations.begin(), output.examinations.end(),
                                    [&](const ExamineCandidate& examination) {
                                      return examination.candidate_id == candidate_id;
                                    });
  return examined ? absl::OkStatus() : Challenge(candidate, *result);
}

absl::Status SearchRun::FoldExamination(const std::string& tag, const std::string& job_id,
                                        const v1::JobResult& result) {
  ASSIGN_OR_RETURN(const v1::JobSpec spec, parts_.store->ReadJob(job_id));
  const std::string candidate_id = CandidateId(spec.candidate());
  const bool refused =
      result.outcome() != v1::OUTCOME_PASSED && !IsInfrastructureOutcome(result.outcome());
  if (refused) {
    tracker_.Refuse(candidate_id);
    ForgetGain(candidate_id);
  }
  RETURN_IF_ERROR(Take(strategy_->OnExamined({tag, result})));
  if (refused) return absl::OkStatus();
  ASSIGN_OR_RETURN(const CandidateRow candidate,
                   parts_.store->ReadCandidate(run_id_, candidate_id));
  ASSIGN_OR_RETURN(const std::optional<v1::JobResult> screened,
                   parts_.store->ReadResult(candidate.job_id));
  return screened.has_value() ? Challenge(candidate, *screened) : absl::OkStatus();
}

absl::Status SearchRun::Challenge(const CandidateRow& candidate, const v1::JobResult& screened) {
  return TakeTrackerStep(tracker_.OnScreened(screened, candidate.candidate_id, candidate.node_id,
                                             candidate.round,
                                             SpeedupOverBaseline(screened).value_or(0)));
}

absl::Status SearchRun::FoldConfirmation(const std::string& tag, const v1::JobResult& result) {
  const v1::IncumbentState& before = tracker_.state();
  const bool awaited = tracker_.busy() && before.confirming_tag() == tag;
  Confirmation confirmation;
  confirmation.candidate_id = before.confirming().candidate_id();
  confirmation.rival_id = before.incumbent().candidate_id().empty()
                              ? kBaselineRival
                              : before.incumbent().candidate_id();
  RETURN_IF_ERROR(TakeTrackerStep(tracker_.OnConfirmed(tag, result)));
  // A rival's fault says nothing about the candidate, and neither do lost workers.
  const bool judged =
      !IsInfrastructureOutcome(result.outcome()) && result.outcome() != v1::OUTCOME_TASK_ERROR;
  if (!awaited || !judged) return absl::OkStatus();
  confirmation.result = result;
  if (result.outcome() != v1::OUTCOME_PASSED || result.suspicions_size() > 0) {
    ForgetGain(confirmation.candidate_id);
  }
  return Take(strategy_->OnConfirmed(confirmation));
}

absl::Status SearchRun::NoteGain(const CandidateRow& candidate, const v1::JobResult& result) {
  const bool passed = result.outcome() == v1::OUTCOME_PASSED && result.suspicions_size() == 0;
  const double speedup = passed ? SpeedupOverBaseline(result).value_or(0) : 0;
  if (candidate.call_id.empty()) {
    state_.set_seed_score(speedup);
    return absl::OkStatus();
  }
  double before = state_.seed_score();
  if (!candidate.parent_candidate_id.empty()) {
    const auto parent = parts_.store->ReadCandidate(run_id_, candidate.parent_candidate_id);
    if (parent.ok()) before = std::max(before, parent->score);
  }
  ASSIGN_OR_RETURN(const LlmCallRow call, parts_.store->ReadCall(candidate.call_id));
  gate_.NoteGain(call, std::max(speedup - before, 0.0), &state_);
  return absl::OkStatus();
}

absl::Status SearchRun::Take(const StepOutput& output) {
  for (const v1::RunEvent& event : output.events) AddEvent(event);
  for (const AskModel& ask : output.asks) {
    v1::HeldAsk* held = state_.add_held_asks();
    held->set_call_number(ask.call_number);
    held->set_role(ask.role);
    held->set_purpose(ask.labels.purpose);
    held->set_node_id(ask.labels.node_id);
    held->set_attempt(ask.labels.attempt);
    held->set_cycle(ask.labels.cycle);
    held->set_system(ask.system);
    held->set_user(ask.user);
    held->set_dropped_parts(absl::StrJoin(ask.dropped_parts, "\n"));
    state_.add_outstanding(absl::StrCat("call/", ask.call_number));
    state_.set_llm_calls(state_.llm_calls() + 1);
  }
  for (const ScreenCandidate& screen : output.screens) {
    CandidateRow candidate;
    ASSIGN_OR_RETURN(candidate.job_id, Hold(screen.tag, specs_.Screen(screen.sources)));
    candidate.run_id = run_id_;
    candidate.candidate_id = screen.candidate_id;
    candidate.sources = screen.sources;
    candidate.node_id = screen.node_id;
    candidate.parent_candidate_id = screen.parent_candidate_id;
    if (screen.call_number > 0) candidate.call_id = CallId(run_id_, screen.call_number);
    candidate.cycle = screen.cycle;
    candidate.round = screen.round;
    candidate.attempt = screen.attempt;
    pending_.candidates.push_back(std::move(candidate));
  }
  for (const ProfileCandidate& profile : output.profiles) {
    RETURN_IF_ERROR(Hold(profile.tag, specs_.Profile(profile.sources, profile.workload_uuid,
                                                     profile.architecture))
                        .status());
  }
  for (const ExamineCandidate& examination : output.examinations) {
    RETURN_IF_ERROR(
        Hold(examination.tag, specs_.Examine(examination.sources, examination.architecture))
            .status());
  }
  if (output.times_baseline) {
    const v1::Sources* const baseline =
        ChooseTrusted(context_.task.baselines(), context_.config.language());
    if (baseline != nullptr) {
      RETURN_IF_ERROR(Hold(kBaselineTag, specs_.Baseline(*baseline)).status());
    }
  }
  if (output.reopened) {
    state_.set_strategy_finished(false);
    state_.clear_finish_reason();
  }
  if (output.finished) {
    state_.set_strategy_finished(true);
    state_.set_strategy_failed(output.failed);
    state_.set_finish_reason(output.finish_reason);
  }
  return absl::OkStatus();
}

absl::Status SearchRun::TakeTrackerStep(const IncumbentTracker::Step& step) {
  for (const v1::RunEvent& event : step.events) AddEvent(event);
  if (!step.start.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const CandidateRow candidate,
                   parts_.store->ReadCandidate(run_id_, step.start->candidate_id));
  CandidateRow incumbent;
  const bool has_incumbent = !step.start->incumbent_id.empty();
  if (has_incumbent) {
    ASSIGN_OR_RETURN(incumbent, parts_.store->ReadCandidate(run_id_, step.start->incumbent_id));
  }
  return Hold(step.start->tag,
              specs_.Confirm(candidate.sources, step.start->incumbent_id,
                             has_incumbent ? &incumbent.sources : nullptr, step.start->error_share))
      .status();
}

void SearchRun::AddEvent(v1::RunEvent event) {
  *event.mutable_at() = ToProto(parts_.clock->Now());
  pending_.events.push_back(std::move(event));
}

void SearchRun::DescribeEvents() {
  const StepFacts facts = {&cause_, &pending_.candidates, strategy_->world_model(), &status_};
  for (v1::RunEvent& event : pending_.events) {
    FillEventDetail(parts_.store, facts, &event);
  }
}

void SearchRun::CountWallTime() {
  const absl::Time now = parts_.clock->SteadyNow();
  state_.set_wall_us(state_.wall_us() + absl::ToInt64Microseconds(now - counted_));
  counted_ = now;
}

void SearchRun::FillStatus(const std::vector<LedgerRow>& ledger) {
  strategy_->Describe(&status_);
  status_.set_run_id(run_id_);
  status_.set_rounds_total(context_.config.rounds());
  status_.set_degenerate(context_.task.degenerate());
  status_.set_llm_calls(state_.llm_calls());
  status_.set_input_tokens(state_.input_tokens());
  status_.set_output_tokens(state_.output_tokens());
  status_.set_confirming(tracker_.busy());
  int jobs = 0;
  for (const std::string& key : state_.outstanding()) jobs += key.rfind("job/", 0) == 0 ? 1 : 0;
  status_.set_jobs_in_flight(jobs - state_.held_jobs_size() - state_.unplaced_jobs_size());
  if (state_.has_platform()) *status_.mutable_platform() = state_.platform();
  status_.set_any_device(context_.config.any_device());
  status_.set_paused(state_.paused());
  v1::Ledger* shown = status_.mutable_ledger();
  FillLedger(ledger, shown);
  *shown->mutable_wall_time() = ToProto(absl::Microseconds(state_.wall_us()));
  const RunCaps& caps = gate_.caps();
  shown->clear_gpu_time_cap();
  shown->clear_wall_time_cap();
  if (caps.gpu_time.has_value()) *shown->mutable_gpu_time_cap() = ToProto(*caps.gpu_time);
  if (caps.wall_time.has_value()) *shown->mutable_wall_time_cap() = ToProto(*caps.wall_time);
  shown->set_unpriced(gate_.unpriced());
  const auto best = tracker_.best();
  if (best.has_value()) *status_.mutable_best() = *best;
}

absl::Status SearchRun::Commit() {
  CountWallTime();
  const v1::WorldModel* model = strategy_->world_model();
  if (model != nullptr && model->revision() != state_.world_model_revision()) {
    pending_.world_model = model;
    state_.set_world_model_revision(model->revision());
  }
  std::string saved = strategy_->Save();
  *state_.mutable_incumbent() = tracker_.state();
  // Between the check and the commit, a reply that cost more than was reserved may have used up the
  // money meant for a call: then no call passes in this step, and the next step checks again.
  const v1::RunEngineState state = state_;
  const v1::RunStatus status = status_;
  const StepCommit pending = pending_;
  const absl::Status committed = CommitOnce(/*closed=*/false, &saved);
  if (!absl::IsOutOfRange(committed)) return committed;
  state_ = state;
  status_ = status;
  pending_ = pending;
  return CommitOnce(/*closed=*/true, &saved);
}

absl::Status SearchRun::CommitOnce(bool closed, std::string* strategy_state) {
  ASSIGN_OR_RETURN(std::vector<LedgerRow> ledger, parts_.store->ReadLedger(run_id_));
  // Calls that this step declares lost count as spent once the step is committed.
  std::vector<std::pair<int64_t, LlmCallRow>> again;
  for (const v1::HeldAsk& ask : state_.held_asks()) {
    if (!ask.again()) continue;
    ASSIGN_OR_RETURN(LlmCallRow call, parts_.store->ReadCall(CallId(run_id_, ask.call_number())));
    again.emplace_back(ask.call_number(), std::move(call));
  }
  const absl::Duration wall_time = absl::Microseconds(state_.wall_us());
  BudgetGate::Passed passed;
  if (!state_.paused()) passed = gate_.Pass(ledger, wall_time, again, closed, &state_);
  for (size_t i = 0; i < passed.calls.size(); ++i) {
    LlmCallRow& call = passed.calls[i];
    call.call_id = CallId(run_id_, passed.call_numbers[i]);
    call.run_id = run_id_;
    if (call.created == absl::Time()) call.created = parts_.clock->Now();
    pending_.calls.push_back(std::move(call));
  }
  for (JobRequestRow& job : passed.jobs) pending_.jobs.push_back(std::move(job));
  for (v1::RunEvent& event : gate_.Warnings(ledger, wall_time, &state_)) AddEvent(std::move(event));
  EndIfDone(passed.blocked);
  FillStatus(ledger);
  DescribeEvents();
  pending_.run_id = run_id_;
  pending_.cursor = cursor_;
  state_.mutable_strategy_state()->swap(*strategy_state);
  pending_.state = state_.SerializeAsString();
  state_.mutable_strategy_state()->swap(*strategy_state);
  pending_.status = status_;
  StepCommit step = std::exchange(pending_, StepCommit{});
  RETURN_IF_ERROR(parts_.store->CommitStep(step));
  committed_state_ = std::move(step.state);
  committed_status_ = step.status;
  committed_cursor_ = step.cursor;
  cause_ = StepCause();
  for (const LlmCallRow& call : step.calls) {
    parts_.models->Send(call, gate_.PriceOf(call.provider, call.model));
  }
  for (const JobRequestRow& job : step.jobs) {
    const auto recorded = parts_.store->ReadResult(job.job_id);
    // If unreadable, submit: a job done twice is recorded once, one never submitted blocks the run.
    if (!recorded.ok() || !recorded->has_value())
      parts_.jobs->Submit(run_id_, job.job_id, job.spec);
  }
  return absl::OkStatus();
}

}  // namespace ksearch
