#include "coordinator/search/call_builder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/search/action_cycle.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// Limit for the chosen action's text in a published edit prompt; validation errors are appended to
// it before the cut, so that they hardly ever arrive (as in K-Search's published code).
constexpr size_t kPaperActionText = 500;

constexpr size_t kMaxCyclesShown = 12;
constexpr size_t kMaxCycleTitle = 120;
constexpr size_t kMaxCycleGain = 200;

ShownCode Shown(const v1::ScreenedProgram& program) {
  ShownCode code;
  code.sources = program.sources();
  code.candidate_id = program.candidate_id();
  if (program.passed()) {
    code.score = program.score();
    if (program.has_latency_us()) code.latency_us = program.latency_us();
  }
  return code;
}

bool HasProgram(const v1::ScreenedProgram& program) { return program.sources().files_size() > 0; }

void Show(const v1::ScreenedProgram& program, WorldModelPromptContext* context) {
  if (!HasProgram(program)) return;
  context->code = Shown(program);
  if (program.has_result()) context->result = program.result();
}

// The program that another was built from; nullopt: there is none, or nothing is known of it.
std::optional<v1::JobResult> ResultOf(const v1::SearchState& state,
                                      const std::string& candidate_id) {
  const auto known = state.solutions().find(candidate_id);
  if (known == state.solutions().end() || !known->second.has_result()) return std::nullopt;
  return known->second.result();
}

std::optional<v1::ConfirmedProgram> ConfirmationOf(const v1::SearchState& state,
                                                   const std::string& candidate_id) {
  const auto known = state.log().confirmed().find(candidate_id);
  if (known == state.log().confirmed().end()) return std::nullopt;
  return known->second;
}

// A line on every cycle under way but `own` (0: on all), best first.
std::string CyclesInFlight(const v1::SearchState& state, int own) {
  std::vector<const v1::CycleState*> cycles;
  for (const v1::CycleState& cycle : state.cycles()) {
    if (cycle.cycle() != own) cycles.push_back(&cycle);
  }
  std::stable_sort(cycles.begin(), cycles.end(),
                   [](const v1::CycleState* a, const v1::CycleState* b) {
                     return a->progress().best_score() > b->progress().best_score();
                   });
  std::string text;
  for (size_t i = 0; i < std::min(cycles.size(), kMaxCyclesShown); ++i) {
    const v1::CycleState& cycle = *cycles[i];
    const v1::Node* node = FindNode(state.world_model(), cycle.node_id());
    absl::StrAppend(&text, "- ", cycle.node_id(), ": ",
                    node == nullptr ? "" : OneLine(node->action().title(), kMaxCycleTitle), "; ",
                    cycle.progress().attempts(), " attempt(s)");
    if (cycle.progress().has_best()) {
      absl::StrAppendFormat(&text, ", best score %.3f", cycle.progress().best_score());
    } else if (cycle.lessons_size() > 0) {
      absl::StrAppend(&text, ", none right; ",
                      OneLine(cycle.lessons(cycle.lessons_size() - 1), kMaxCycleTitle));
    }
    if (node != nullptr && node->gains_size() > 0 && cycle.progress().has_best()) {
      absl::StrAppend(&text, " (", OneLine(node->gains(node->gains_size() - 1), kMaxCycleGain),
                      ")");
    }
    text += "\n";
  }
  return text;
}

std::string WhatIsLeftOfErrors(const v1::Action& action, const std::string& errors) {
  const size_t used =
      action.title().size() + action.description().size() + action.rationale().size();
  return used >= kPaperActionText ? "" : errors.substr(0, kPaperActionText - used);
}

}  // namespace

CallBuilder::CallBuilder(const SearchContext& context, const SearchSettings& settings,
                         Proposer proposer)
    : settings_(settings), proposer_(std::move(proposer)) {
  facts_.task = context.task;
  facts_.language = context.config.language();
  facts_.kernel_header = context.kernel_header;
  facts_.target_hardware = context.target_hardware;
  facts_.paper = settings.paper;
}

PromptFacts CallBuilder::FactsAt(const v1::SearchState& state) const {
  PromptFacts facts = facts_;
  const v1::EvaluationLogState& log = state.log();
  facts.baseline_us.insert(log.baseline_us().begin(), log.baseline_us().end());
  if (settings_.paper) return facts;
  facts.peaks = log.peaks();
  facts.floor_us.insert(log.floor_us().begin(), log.floor_us().end());
  return facts;
}

AskModel CallBuilder::WorldModelCall(const v1::SearchState& state,
                                     const WorldModelPromptContext& context,
                                     const std::string& purpose, int attempt, int cycle) const {
  WorldModelPromptContext shown = context;
  if (!settings_.paper) {
    for (const v1::CycleState& other : state.cycles()) {
      if (other.cycle() != cycle || purpose == "propose") {
        shown.nodes_in_flight.push_back(other.node_id());
      }
    }
    shown.in_flight_text = CyclesInFlight(state, purpose == "propose" ? 0 : cycle);
  }
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
  // The published system makes its first model blind to a program it continues from.
  if (!settings_.paper) Show(state.log().seed(), &context);
  context.confirmation = ConfirmationOf(state, state.log().seed().candidate_id());
  context.complaint = settings_.paper ? "" : state.init_complaint();
  context.refused_reply = state.init_refused_reply();
  return WorldModelCall(state, context, "init", state.init_attempts() + 1, 0);
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
  if (settings_.paper) {
    Show(state.last_program(), &context);
    context.result.reset();
  } else if (const v1::Node* best = BestNode(tree); best != nullptr) {
    const auto solution = state.solutions().find(best->solution().candidate_id());
    if (solution != state.solutions().end()) Show(solution->second, &context);
    context.confirmation = ConfirmationOf(state, best->solution().candidate_id());
    context.parent_result = ResultOf(state, best->solution().parent_candidate_id());
  }
  return WorldModelCall(state, context, "propose", state.propose().attempts() + 1,
                        state.cycles_started() + 1);
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
  if (settings_.paper) {
    const v1::Node* node = FindNode(state.world_model(), cycle.node_id());
    if (node != nullptr) context.complaint = WhatIsLeftOfErrors(node->action(), cycle.complaint());
  } else {
    if (context.code.has_value()) {
      context.confirmation = ConfirmationOf(state, context.code->candidate_id);
    }
    context.lessons.assign(cycle.lessons().begin(), cycle.lessons().end());
    context.complaint = cycle.complaint();
    context.refused_reply = cycle.refused_reply();
  }
  return WorldModelCall(state, context, refine ? "refine" : "too_hard", cycle.edit_attempts() + 1,
                        cycle.cycle());
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
  if (!settings_.paper) {
    for (const std::string& lesson : cycle.lessons()) context.node.add_lessons(lesson);
  }
  if (BaseIsCycleBest(progress)) {
    context.base = Shown(cycle.best());
  } else if (has_base) {
    context.base = Shown(parent->second);
  }
  const std::string& mends = cycle.mends_candidate_id();
  if (!mends.empty() && cycle.last().candidate_id() == mends) {
    context.kind = CodePromptKind::kMend;
  }
  if (context.kind == CodePromptKind::kDebug || context.kind == CodePromptKind::kImprove ||
      context.kind == CodePromptKind::kMend) {
    // Published: always the last attempt, even if it failed and a better one exists.
    const bool improve_best = !settings_.paper && context.kind == CodePromptKind::kImprove;
    const v1::ScreenedProgram& current = improve_best ? cycle.best() : cycle.last();
    context.current = Shown(current);
    if (context.kind == CodePromptKind::kMend) {
      context.current->score = current.score();
      if (current.has_latency_us()) context.current->latency_us = current.latency_us();
    }
    context.last_result = current.result();
    context.parent_result = ResultOf(state, cycle.base_candidate_id());
    context.confirmation = ConfirmationOf(state, current.candidate_id());
  }
  if (!settings_.paper) context.in_flight_text = CyclesInFlight(state, cycle.cycle());
  context.attempt = progress.attempts() + 1;
  context.world_model = &state.world_model();
  context.complaint = cycle.complaint();
  context.refused_reply = cycle.refused_reply();

  Prompt prompt = proposer_.code_prompt(FactsAt(state), context);
  std::string purpose = "action";
  // A mend is a repair, too; recorded replies know no other name for it.
  if (context.kind == CodePromptKind::kDebug || context.kind == CodePromptKind::kMend) {
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
