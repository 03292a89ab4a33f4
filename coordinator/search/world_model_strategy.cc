#include "coordinator/search/world_model_strategy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/search/action_cycle.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/continued_tree.h"
#include "coordinator/search/examination.h"
#include "coordinator/search/profiling.h"
#include "coordinator/search/saved_search.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr size_t kMaxEventText = 300;
// A given program beside the root's.
constexpr double kGivenScore = 0.5;
constexpr char kNothingToDo[] = "no executable open action nodes";

SearchSettings SettingsOf(const SearchContext& context, const TreePolicy& policy) {
  SearchSettings settings(context);
  policy.Settle(context, &settings);
  return settings;
}

}  // namespace

WorldModelStrategy::WorldModelStrategy(const SearchContext& context, Proposer proposer)
    : context_(context),
      policy_(MakeTreePolicy(context_.config.world_model().preset())),
      settings_(SettingsOf(context_, *policy_)),
      calls_(policy_->MakeCalls(context_, settings_, std::move(proposer))) {}

StepOutput WorldModelStrategy::Start() {
  state_.Clear();
  saved_.Restart();
  saved_solutions_.Restart();
  state_.set_version(kSearchStateVersion);
  *state_.mutable_world_model() = NewWorldModel();
  state_.set_proposed_at_revision(-1);
  state_.set_stage(settings_.time_baseline_first ? v1::SearchState::BASELINE
                   : HasSeeds(context_.config)   ? v1::SearchState::SEEDING
                                                 : v1::SearchState::INIT);
  StepOutput out;
  Advance(&out);
  return out;
}

// ---------------------------------------------------------------- inputs

StepOutput WorldModelStrategy::OnAnswer(const ModelAnswer& answer) {
  StepOutput out;
  if (FoldVerdict(answer, &out)) {
    Advance(&out);
    return out;
  }
  if (!answer.status.ok()) {
    FoldFailedCall(answer, &out);
    Advance(&out);
    return out;
  }
  log().NoteAnswer();
  const int64_t call = answer.call_number;
  const auto edits = [&] { return calls_->proposer().parse_edits(answer.reply.text); };
  if (call != 0 && call == state_.init_call()) {
    state_.set_init_call(0);
    FoldInit(edits(), &out);
    state_.set_init_refused_reply(
        state_.init_complaint().empty() ? "" : policy_->Refused(answer.reply.text));
  } else if (call != 0 && call == state_.propose().call_number()) {
    state_.mutable_propose()->set_call_number(0);
    FoldPropose(edits(), &out);
    if (state_.has_propose()) {
      state_.mutable_propose()->set_refused_reply(
          state_.propose().complaint().empty() ? "" : policy_->Refused(answer.reply.text));
    }
  } else {
    for (v1::CycleState& cycle : *state_.mutable_cycles()) {
      if (call == 0 || cycle.call_number() != call) continue;
      cycle.set_call_number(0);
      if (cycle.phase() == v1::CycleState::CODING) {
        cycle.set_code_call_number(call);
        FoldCode(answer.reply, &cycle, &out);
      } else {
        cycle.set_refused_reply(policy_->Refused(answer.reply.text));
        FoldRevision(edits(), &cycle, &out);
      }
      break;
    }
  }
  Advance(&out);
  return out;
}

void WorldModelStrategy::FoldInit(const absl::StatusOr<v1::EditScript>& script, StepOutput* out) {
  const int attempts = state_.init_attempts() + 1;
  const int limit = settings_.init_attempts;
  const Revision revision = Reviser(out)->Initialize(script, attempts >= limit);
  state_.set_init_attempts(attempts);
  state_.set_init_complaint(revision.complaint);
  if (!revision.done) {
    if (attempts >= limit) Finish(v1::SearchState::FINISHED, kNothingToDo);
    return;
  }
  policy_->CompleteFirstTree(context_.task, state_.mutable_world_model());
  state_.clear_init_complaint();
  state_.set_stage(v1::SearchState::CYCLING);
  InsertRepairOfSeed(out);
  InsertGivenPrograms(out);
  AddEvent(v1::RunEvent::WORLD_MODEL_READY,
           absl::StrCat(state_.world_model().nodes_size(), " nodes, ",
                        CountOpenActions(state_.world_model()), " open actions"),
           out);
}

void WorldModelStrategy::FoldPropose(const absl::StatusOr<v1::EditScript>& script,
                                     StepOutput* out) {
  v1::ProposeState* propose = state_.mutable_propose();
  const Revision revision = Reviser(out)->Propose(script);
  if (!state_.proposing()) {  // ended with the tree unchanged
    state_.set_proposed_at_revision(state_.world_model().revision());
    state_.set_proposed_for_cycle(state_.cycles_started() + 1);
    return;
  }
  propose->set_attempts(propose->attempts() + 1);
  propose->set_complaint(revision.complaint);
  if (revision.done || propose->attempts() >= settings_.edit_attempts) EndPropose(out);
}

void WorldModelStrategy::EndPropose(StepOutput* out) {
  Reviser(out)->FinishPropose();
  state_.set_proposed_at_revision(state_.world_model().revision());
  state_.set_proposed_for_cycle(state_.cycles_started() + 1);
}

void WorldModelStrategy::FoldCode(const LlmReply& reply, v1::CycleState* cycle, StepOutput* out) {
  absl::StatusOr<v1::Sources> sources =
      ProgramIn(reply, calls_->proposer().parse_code, context_.config.language());
  if (sources.ok()) {
    cycle->set_plan(policy_->PlanIn(reply.text));
    cycle->set_phase(v1::CycleState::EVALUATING);
    cycle->set_awaited_candidate_id(CandidateId(*sources));
    *cycle->mutable_awaited_sources() = *std::move(sources);
    cycle->clear_complaint();
    cycle->clear_refused_reply();
    cycle->clear_asked_again();
    return;
  }
  const std::string fault(sources.status().message());
  AddEvent(v1::RunEvent::REPLY_UNUSABLE, fault, *cycle, out);
  cycle->set_complaint(fault);
  cycle->set_refused_reply(policy_->Refused(reply.text));
  if (!cycle->asked_again()) {
    cycle->set_asked_again(true);
    return;
  }
  AddEvent(v1::RunEvent::CANDIDATE_FAILED, absl::StrCat("no usable program: ", fault), *cycle, out);
  EndAttempt(nullptr, absl::StrCat("reply without a usable program: ", fault), cycle, out);
}

void WorldModelStrategy::FoldRevision(const absl::StatusOr<v1::EditScript>& script,
                                      v1::CycleState* cycle, StepOutput* out) {
  const std::unique_ptr<TreeReviser> reviser = Reviser(out);
  const bool refine = cycle->phase() == v1::CycleState::REFINING;
  const Revision revision =
      refine ? reviser->Refine(script, cycle) : reviser->NoteTooHard(script, *cycle);
  cycle->set_edit_attempts(cycle->edit_attempts() + 1);
  cycle->set_complaint(revision.complaint);
  if (!revision.done && cycle->edit_attempts() < settings_.edit_attempts) return;
  if (refine) reviser->FinishRefine(*cycle);
  RemoveCycle(cycle->cycle());
}

// After a failure that every call would meet, or the third in a row, the question stays open: it is
// asked again when the search is resumed.
void WorldModelStrategy::FoldFailedCall(const ModelAnswer& answer, StepOutput* out) {
  const int64_t call = answer.call_number;
  v1::CycleState* cycle = nullptr;
  for (v1::CycleState& candidate : *state_.mutable_cycles()) {
    if (call != 0 && candidate.call_number() == call) cycle = &candidate;
  }
  const bool is_init = call != 0 && call == state_.init_call();
  const bool is_propose = call != 0 && call == state_.propose().call_number();
  if (cycle == nullptr && !is_init && !is_propose) return;
  if (is_init) state_.set_init_call(0);
  if (is_propose) state_.mutable_propose()->set_call_number(0);
  if (cycle != nullptr) cycle->set_call_number(0);
  if (const auto stop = log().NoteFailedCall(answer.status); stop.has_value()) {
    Finish(v1::SearchState::FAILED, *stop);
    return;
  }
  v1::RunEvent* event =
      AddEvent(v1::RunEvent::NOTE,
               absl::StrCat("model call ", call, " failed: ", answer.status.message()), out);
  if (cycle != nullptr) {
    event->set_cycle(cycle->cycle());
    event->set_node_id(cycle->node_id());
  }
  if (is_propose) {
    // With nothing else to do it is simply asked again.
    const bool idle = state_.cycles_size() == 0 && Frontier(state_.world_model()).empty();
    if (!policy_->AsksAgainForIntents(idle)) EndPropose(out);
  } else if (cycle != nullptr && cycle->phase() == v1::CycleState::CODING) {
    AddEvent(v1::RunEvent::CANDIDATE_FAILED, "no reply from the model", *cycle, out);
    EndAttempt(nullptr, "", cycle, out);
  } else if (cycle != nullptr) {
    if (cycle->phase() == v1::CycleState::REFINING) Reviser(out)->FinishRefine(*cycle);
    RemoveCycle(cycle->cycle());
  }
}

StepOutput WorldModelStrategy::OnScreened(const ScreenResult& result) {
  StepOutput out;
  if (state_.stage() == v1::SearchState::SEEDING && result.tag == state_.log().seed_tag()) {
    auto seed = log().TakeSeed(result, context_.config, &out);
    if (seed.has_value()) SettleSeed(*std::move(seed), &out);
  } else if (log().TakeMoreSeed(result, context_.config, &out)) {
    SettleSeeds();
  } else if (!TakeSolution(result, &out)) {
    for (v1::CycleState& cycle : *state_.mutable_cycles()) {
      if (result.tag.empty() || cycle.screen_tag() != result.tag) continue;
      const v1::ScreenedProgram program = log().Record(result.result, cycle.awaited_candidate_id(),
                                                       cycle.awaited_sources(), cycle.round());
      DescribeVerdict(program, AddEvent(v1::RunEvent::NOTE, Verdict(program), cycle, &out));
      const bool lesson = !program.passed() && !IsInfrastructureOutcome(result.result.outcome());
      if (BeginExamination(program, result.tag, &cycle, &out)) break;
      TakeExamined(program, result.tag, lesson ? OutcomeLine(result.result) : "", &cycle, &out);
      break;
    }
  }
  Advance(&out);
  return out;
}

void WorldModelStrategy::SettleSeed(v1::ScreenedProgram program, StepOutput* out) {
  if (program.passed()) {
    *state_.mutable_log()->mutable_seed() = std::move(program);
    if (context_.config.has_initial_tree()) {
      AdoptTree(context_.config.initial_tree(), state_.log().seed(), &state_);
      saved_solutions_.Restart();
      policy_->NoteProgram(state_.log().seed(), &state_);
      state_.set_stage(v1::SearchState::CYCLING);
      InsertRepairOfSeed(out);
      AddEvent(v1::RunEvent::WORLD_MODEL_READY,
               absl::StrCat("the tree of run ", context_.config.initial_tree().run_id(), ": ",
                            state_.world_model().nodes_size(), " nodes, ",
                            CountOpenActions(state_.world_model()), " open actions"),
               out);
      return;
    }
  } else {
    AddEvent(v1::RunEvent::NOTE, "the seed did not pass; starting from the specification", out);
  }
  SettleSeeds();
}

void WorldModelStrategy::SettleSeeds() {
  if (state_.stage() != v1::SearchState::SEEDING || !state_.log().seed_tag().empty() ||
      !log().HasMoreSeeds(context_.config)) {
    return;
  }
  // The best of them is the root's; the others become nodes once there is a tree.
  v1::ScreenedProgram best = state_.log().seed();
  for (const v1::GivenProgram& given : state_.log().more_seeds()) {
    const v1::ScreenedProgram& program = given.program();
    if (program.passed() && (!best.passed() || program.score() > best.score())) best = program;
  }
  if (best.passed()) {
    CHECK_OK(AttachSolution(state_.mutable_world_model(), kRootId, SolutionOf(best, "")));
    KeepSolution(best);
    policy_->NoteProgram(best, &state_);
    *state_.mutable_log()->mutable_seed() = std::move(best);
  }
  state_.set_stage(v1::SearchState::INIT);
}

void WorldModelStrategy::KeepSolution(const v1::ScreenedProgram& program) {
  (*state_.mutable_solutions())[program.candidate_id()] = program;
  saved_solutions_.Change(program.candidate_id());
}

void WorldModelStrategy::InsertGivenPrograms(StepOutput* out) {
  if (!policy_->TakesAllGiven()) return;
  for (const v1::Sources& sources : GivenSources(context_.config)) {
    const std::string id = CandidateId(sources);
    const v1::ScreenedProgram* known = log().Find(id);
    if (known == nullptr || !known->passed() || id == state_.log().seed().candidate_id()) continue;
    v1::ScreenedProgram program = *known;
    *program.mutable_sources() = sources;
    v1::Node node;
    node.set_decision("starting program");
    node.set_choice("another given program");
    node.mutable_action()->set_title("Another given program");
    node.mutable_action()->set_description("The program as it was given, to be built on.");
    node.mutable_action()->set_rationale("Inserted because it was given and passed.");
    node.mutable_action()->set_difficulty(1);
    v1::WorldModel* model = state_.mutable_world_model();
    const std::string node_id =
        AppendNode(model, UnderRoot(*model, "given", settings_.task, state_.rounds_started(),
                                    kGivenScore, std::move(node)))
            ->node_id();
    CHECK_OK(AttachSolution(model, node_id, SolutionOf(program, "")));
    KeepSolution(program);
    AddEvent(v1::RunEvent::NODE_INSERTED, absl::StrCat("a given program: ", Verdict(program)), out)
        ->set_node_id(node_id);
  }
}

// ---------------------------------------------------------------- output

void WorldModelStrategy::Advance(StepOutput* out) {
  bool progress = true;
  while (progress) {
    progress = false;
    if (state_.stage() == v1::SearchState::BASELINE) {
      log().TimeBaseline(out);
    } else if (state_.stage() == v1::SearchState::SEEDING) {
      // A seed that has been screened waits for the other given programs.
      if (log().Find(CandidateId(SeedSources(context_.config))) == nullptr) {
        log().ScreenSeed(context_.config, out);
      }
      log().ScreenMoreSeeds(context_.config, out);
    } else if (state_.stage() == v1::SearchState::INIT && state_.init_call() == 0) {
      if (const v1::ScreenedProgram* at_floor = log().FindAtFloor(); at_floor != nullptr) {
        Finish(v1::SearchState::FINISHED, AtFloorText(*at_floor));
        break;
      }
      state_.set_init_call(Ask(calls_->Init(state_), out));
    } else if (state_.stage() == v1::SearchState::CYCLING) {
      std::vector<int> numbers;
      for (const v1::CycleState& cycle : state_.cycles()) numbers.push_back(cycle.cycle());
      for (const int number : numbers) {
        if (v1::CycleState* cycle = FindCycle(number); cycle != nullptr) {
          progress = ServeCycle(cycle, out) || progress;
        }
      }
      progress = StartCycle(out) || progress;
    }
  }
  out->finished =
      state_.stage() == v1::SearchState::FINISHED || state_.stage() == v1::SearchState::FAILED;
  out->failed = state_.stage() == v1::SearchState::FAILED;
  if (out->finished) out->finish_reason = state_.finish_reason();
}

// Returns true if the state changed in a way that may allow more.
bool WorldModelStrategy::ServeCycle(v1::CycleState* cycle, StepOutput* out) {
  if (cycle->phase() == v1::CycleState::EVALUATING) return ServeScreen(cycle, out);
  if (cycle->call_number() != 0 || cycle->judge().call_number() != 0) return false;
  if (cycle->phase() == v1::CycleState::CODING) {
    const v1::ScreenedProgram* judged = calls_->JudgedProgram(state_, *cycle);
    if (WantsJudge(context_, judged, cycle->judge())) {
      cycle->mutable_judge()->set_program_id(judged->candidate_id());
      const AskModel question = calls_->Judge(state_, *cycle, *judged);
      cycle->mutable_judge()->set_call_number(Ask(question, out));
      return false;
    }
  }
  cycle->set_call_number(Ask(cycle->phase() == v1::CycleState::CODING
                                 ? calls_->Code(state_, *cycle)
                                 : calls_->Revise(state_, *cycle),
                             out));
  return false;
}

bool WorldModelStrategy::ServeScreen(v1::CycleState* cycle, StepOutput* out) {
  if (!cycle->screen_tag().empty() || !cycle->examine_tag().empty() ||
      !cycle->profile_tag().empty()) {
    return false;
  }
  const std::string candidate_id = cycle->awaited_candidate_id();
  if (AwaitsSolution(candidate_id)) return false;  // its result serves both
  if (!policy_->RepeatsEvaluations()) {
    for (const v1::CycleState& other : state_.cycles()) {
      const bool same = other.awaited_candidate_id() == candidate_id;
      if (same && !other.screen_tag().empty()) return false;  // its result serves both
    }
    if (const v1::ScreenedProgram* known = log().Find(candidate_id); known != nullptr) {
      v1::ScreenedProgram program = *known;
      *program.mutable_sources() = cycle->awaited_sources();
      const std::string text = absl::StrCat("the same program as in round ", program.round(), " (",
                                            log().IsRefused(candidate_id)
                                                ? RefusalLine(*log().ConfirmationOf(candidate_id))
                                                : Verdict(program),
                                            ")");
      AddEvent(v1::RunEvent::NOTE, absl::StrCat("duplicate, not evaluated again: ", text), *cycle,
               out)
          ->set_candidate_id(candidate_id);
      cycle->set_complaint(absl::StrCat("your previous program was ", text,
                                        "; it was not evaluated again. Write one that differs"));
      cycle->clear_refused_reply();
      if (!BeginExamination(program, CycleScreen(*cycle).tag, cycle, out)) {
        EndAttempt(&program, absl::StrCat("repeated ", text), cycle, out);
      }
      return true;
    }
  }
  ScreenCandidate screen = CycleScreen(*cycle);
  cycle->set_screen_tag(screen.tag);
  AddEvent(v1::RunEvent::CANDIDATE_PROPOSED,
           absl::StrCat("attempt ", screen.attempt, ": ", candidate_id.substr(0, 12)), *cycle, out)
      ->set_candidate_id(candidate_id);
  out->screens.push_back(std::move(screen));
  return false;
}

bool WorldModelStrategy::StartCycle(StepOutput* out) {
  const bool free_slot = state_.cycles_size() < settings_.parallel;
  const v1::ScreenedProgram* at_floor = log().FindAtFloor();
  if (!rounds_left() || at_floor != nullptr) {
    // Intents that no round is left for are not asked for again.
    if (state_.propose().call_number() == 0) state_.set_proposing(false);
    if (state_.cycles_size() > 0 || state_.proposing()) return false;
    Finish(v1::SearchState::FINISHED,
           rounds_left() ? AtFloorText(*at_floor)
                         : absl::StrCat("budget of ", settings_.rounds, " rounds is spent"));
    return false;
  }
  const std::unique_ptr<TreeReviser> reviser = Reviser(out);
  if (free_slot && !state_.proposing() && !policy_->HasAskedForIntents(state_) &&
      reviser->WantsProposals()) {
    state_.set_proposing(true);
  }
  if (state_.proposing() && state_.propose().call_number() == 0) {
    v1::WorldModel edited;
    const AskModel ask =
        calls_->Propose(state_, reviser->ProposedTree(&edited), reviser->ProposeRequirement());
    state_.mutable_propose()->set_call_number(Ask(ask, out));
  }
  if (!free_slot || (policy_->WaitsForIntents() && state_.proposing())) return false;

  const v1::Node* node = NodeToRepair();
  if (node == nullptr) {
    node = SelectNode(state_.world_model(), settings_.selection, NodesInFlight());
  }
  if (node == nullptr) {
    if (state_.cycles_size() == 0 && !state_.proposing()) {
      Finish(v1::SearchState::FINISHED, kNothingToDo);
    }
    return false;
  }
  const v1::Node* parent = FindNode(state_.world_model(), node->parent_id());
  state_.set_cycles_started(state_.cycles_started() + 1);
  v1::CycleState* cycle = state_.add_cycles();
  cycle->set_cycle(state_.cycles_started());
  cycle->set_node_id(node->node_id());
  cycle->set_base_candidate_id(parent->solution().candidate_id());
  *cycle->mutable_progress() =
      NewCycleProgress(IsSolved(*parent) ? parent->solution().score() : -1);
  BeginRepair(cycle);
  state_.mutable_world_model()->set_active_node_id(node->node_id());
  BeginAttempt(cycle);
  AddEvent(v1::RunEvent::CYCLE_STARTED,
           absl::StrFormat("%s (score %.2f, difficulty %d)", node->action().title(),
                           node->action().score(), node->action().difficulty()),
           *cycle, out);
  return true;
}

void WorldModelStrategy::Finish(v1::SearchState::Stage stage, std::string reason) {
  // Calls still out may fail after the search has; the first reason is kept.
  if (state_.stage() == v1::SearchState::FINISHED || state_.stage() == v1::SearchState::FAILED) {
    return;
  }
  state_.set_resume_stage(state_.stage());
  state_.set_rounds_at_finish(settings_.rounds);
  state_.set_stage(stage);
  state_.set_finish_reason(OneLine(reason, kMaxEventText));
}

int64_t WorldModelStrategy::Ask(AskModel ask, StepOutput* out) {
  state_.set_calls_made(state_.calls_made() + 1);
  ask.call_number = state_.calls_made();
  out->asks.push_back(std::move(ask));
  return state_.calls_made();
}

std::vector<std::string> WorldModelStrategy::NodesInFlight() const {
  std::vector<std::string> nodes;
  for (const v1::CycleState& cycle : state_.cycles()) nodes.push_back(cycle.node_id());
  return nodes;
}

v1::CycleState* WorldModelStrategy::FindCycle(int cycle) {
  for (v1::CycleState& candidate : *state_.mutable_cycles()) {
    if (candidate.cycle() == cycle) return &candidate;
  }
  return nullptr;
}

// ---------------------------------------------------------------- persistence, status

std::string WorldModelStrategy::Save() const {
  const bool kept = state_.world_model().revision() != revision_in_state_;
  if (context_.programs != nullptr && kept)
    return EncodeWithoutTree(state_, &saved_, &saved_solutions_);
  return saved_.Encode(state_, state_.log(), v1::SearchState::kLogFieldNumber);
}

absl::StatusOr<StepOutput> WorldModelStrategy::Restore(const std::string& state) {
  bool had_tree = false;
  ASSIGN_OR_RETURN(state_, DecodeSearchState(state, context_.programs.get(), &had_tree));
  revision_in_state_ = had_tree ? state_.world_model().revision() : kNoRevision;
  saved_.Restart();
  saved_solutions_.Restart();
  ReopenSearch(settings_.rounds, &state_);
  StepOutput out;
  Advance(&out);
  return out;
}

void WorldModelStrategy::Describe(v1::RunStatus* status) const { DescribeSearch(state_, status); }

}  // namespace ksearch
