#include "coordinator/search/call_builder.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/search/action_cycle.h"
#include "coordinator/search/shown_state.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {

CallBuilder::CallBuilder(const SearchContext& context, const SearchSettings& settings,
                         Proposer proposer)
    : settings_(settings), proposer_(std::move(proposer)) {
  facts_.task = context.task;
  facts_.language = context.config.language();
  facts_.kernel_header = context.kernel_header;
  facts_.target_hardware = context.target_hardware;
  const v1::MemorySnapshot& memory = context.config.memory_snapshot();
  facts_.priors.assign(memory.priors().begin(), memory.priors().end());
}

PromptFacts CallBuilder::FactsAt(const v1::SearchState& state) const {
  PromptFacts facts = facts_;
  const v1::EvaluationLogState& log = state.log();
  facts.baseline_us.insert(log.baseline_us().begin(), log.baseline_us().end());
  AddFacts(log, &facts);
  return facts;
}

AskModel CallBuilder::WorldModelCall(const v1::SearchState& state,
                                     const WorldModelPromptContext& context,
                                     const std::string& purpose, int attempt, int cycle,
                                     int own) const {
  WorldModelPromptContext shown = context;
  AddOthers(state, own, &shown);
  Prompt prompt = proposer_.world_model_prompt(FactsAt(state), shown);
  AskModel ask;
  ask.role = "world_model";
  ask.labels = {purpose, context.node_id, attempt, cycle};
  ask.system = std::move(prompt.system);
  ask.user = std::move(prompt.user);
  ask.dropped_parts = std::move(prompt.dropped_parts);
  return ask;
}

AskModel CallBuilder::Init(const v1::SearchState& state) const {
  WorldModelPromptContext context;
  context.kind = WorldModelPromptKind::kInit;
  context.max_new_nodes = settings_.init_max_new_nodes;
  context.confirmation = ConfirmationOf(state, state.log().seed().candidate_id());
  context.refused_reply = state.init_refused_reply();
  AddToInit(state, &context);
  return WorldModelCall(state, context, "init", state.init_attempts() + 1, 0, 0);
}

AskModel CallBuilder::Propose(const v1::SearchState& state, const v1::WorldModel& tree,
                              const std::string& requirement) const {
  WorldModelPromptContext context;
  context.kind = WorldModelPromptKind::kPropose;
  context.world_model = &tree;
  context.round = state.rounds_started() + 1;
  context.max_new_nodes = settings_.max_new_nodes;
  context.requirement = requirement;
  context.complaint = state.propose().complaint();
  context.refused_reply = state.propose().refused_reply();
  AddToPropose(state, tree, &context);
  return WorldModelCall(state, context, "propose", state.propose().attempts() + 1,
                        state.cycles_started() + 1, /*own=*/0);
}

AskModel CallBuilder::Revise(const v1::SearchState& state, const v1::CycleState& cycle) const {
  const bool refine = cycle.phase() == v1::CycleState::REFINING;
  WorldModelPromptContext context;
  context.kind = refine ? WorldModelPromptKind::kRefine : WorldModelPromptKind::kTooHard;
  context.world_model = &state.world_model();
  context.node_id = cycle.node_id();
  context.round = cycle.round();
  context.max_new_nodes = settings_.max_new_nodes;
  Show(refine ? cycle.best() : cycle.last(), &context);
  context.parent_result = ResultOf(state, cycle.base_candidate_id());
  AddToRevision(state, cycle, &context);
  return WorldModelCall(state, context, refine ? "refine" : "too_hard", cycle.edit_attempts() + 1,
                        cycle.cycle(), cycle.cycle());
}

const v1::ScreenedProgram* CallBuilder::JudgedProgram(const v1::SearchState& state,
                                                      const v1::CycleState& cycle) const {
  const std::string& repairs = cycle.repairs_candidate_id();
  if (!repairs.empty() && cycle.last().candidate_id() == repairs) return nullptr;
  const auto parent = state.solutions().find(cycle.base_candidate_id());
  const bool has_base = parent != state.solutions().end();
  switch (NextPromptKind(cycle.progress(), has_base, HasProgram(cycle.last()))) {
    case CodePromptKind::kImprove:
      return &ImprovedProgram(cycle);
    case CodePromptKind::kActionOnBase:
      return &parent->second;
    default:
      return nullptr;
  }
}

AskModel CallBuilder::Judge(const v1::SearchState& state, const v1::CycleState& cycle,
                            const v1::ScreenedProgram& program) const {
  JudgePromptContext context;
  context.program = Shown(program);
  context.result = program.result();
  context.parent_result = ResultOf(state, cycle.base_candidate_id());
  if (const v1::Node* node = FindNode(state.world_model(), cycle.node_id()); node != nullptr) {
    context.intent = absl::StrCat(node->action().title(), "\n", node->action().description());
  }
  context.history.assign(cycle.lessons().begin(), cycle.lessons().end());
  AskModel ask = JudgeQuestion(proposer_.judge, FactsAt(state), std::move(context), cycle.judge());
  ask.labels.node_id = cycle.node_id();
  ask.labels.attempt = cycle.progress().attempts() + 1;
  ask.labels.cycle = cycle.cycle();
  return ask;
}

AskModel CallBuilder::Code(const v1::SearchState& state, const v1::CycleState& cycle) const {
  const v1::CycleProgress& progress = cycle.progress();
  CodePromptContext context;
  const auto parent = state.solutions().find(cycle.base_candidate_id());
  const bool has_base = parent != state.solutions().end();
  context.kind = NextPromptKind(progress, has_base, HasProgram(cycle.last()));
  if (const v1::Node* node = FindNode(state.world_model(), cycle.node_id()); node != nullptr) {
    context.node = *node;
  }
  if (BaseIsCycleBest(progress)) {
    context.base = Shown(cycle.best());
  } else if (has_base) {
    context.base = Shown(parent->second);
  }
  const std::string& repairs = cycle.repairs_candidate_id();
  if (!repairs.empty() && cycle.last().candidate_id() == repairs) {
    context.kind = CodePromptKind::kRepair;
  }
  if (context.kind == CodePromptKind::kDebug || context.kind == CodePromptKind::kImprove ||
      context.kind == CodePromptKind::kRepair) {
    const v1::ScreenedProgram& current =
        context.kind == CodePromptKind::kImprove ? ImprovedProgram(cycle) : cycle.last();
    context.current = Shown(current);
    if (context.kind == CodePromptKind::kRepair) {
      context.current->score = current.score();
      if (current.has_latency_us()) context.current->latency_us = current.latency_us();
    }
    context.last_result = current.result();
    context.parent_result = ResultOf(state, cycle.base_candidate_id());
    context.confirmation = ConfirmationOf(state, current.candidate_id());
  }
  context.attempt = progress.attempts() + 1;
  context.world_model = &state.world_model();
  context.complaint = cycle.complaint();
  context.refused_reply = cycle.refused_reply();
  AddToCode(state, cycle, &context);
  if (const v1::ScreenedProgram* judged = JudgedProgram(state, cycle); judged != nullptr) {
    context.verdict = VerdictOn(judged->candidate_id(), cycle.judge());
  }

  Prompt prompt = proposer_.code_prompt(FactsAt(state), context);
  std::string purpose = "action";
  // Labeled as a repair like the others, as in recorded replies.
  if (context.kind == CodePromptKind::kDebug || context.kind == CodePromptKind::kRepair) {
    purpose = "debug";
  }
  if (context.kind == CodePromptKind::kImprove) purpose = "improve";
  AskModel ask;
  ask.role = "code";
  ask.labels = {purpose, cycle.node_id(), context.attempt, cycle.cycle()};
  ask.system = std::move(prompt.system);
  ask.user = std::move(prompt.user);
  ask.dropped_parts = std::move(prompt.dropped_parts);
  return ask;
}

}  // namespace ksearch
