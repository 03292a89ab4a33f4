#include "coordinator/search/presets/default_calls.h"

#include "coordinator/search/shown_state.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {

void DefaultCalls::AddFacts(const v1::EvaluationLogState& log, PromptFacts* facts) const {
  facts->peaks = log.peaks();
  facts->floor_us.insert(log.floor_us().begin(), log.floor_us().end());
}

void DefaultCalls::AddOthers(const v1::SearchState& state, int own,
                             WorldModelPromptContext* context) const {
  for (const v1::CycleState& other : state.cycles()) {
    if (other.cycle() != own) context->nodes_in_flight.push_back(other.node_id());
  }
  context->in_flight_text = CyclesInFlight(state, own);
}

void DefaultCalls::AddToInit(const v1::SearchState& state, WorldModelPromptContext* context) const {
  Show(state.log().seed(), context);
  context->complaint = state.init_complaint();
}

void DefaultCalls::AddToPropose(const v1::SearchState& state, const v1::WorldModel& tree,
                                WorldModelPromptContext* context) const {
  const v1::Node* best = BestNode(tree);
  if (best == nullptr) return;
  const auto solution = state.solutions().find(best->solution().candidate_id());
  if (solution != state.solutions().end()) Show(solution->second, context);
  context->confirmation = ConfirmationOf(state, best->solution().candidate_id());
  context->parent_result = ResultOf(state, best->solution().parent_candidate_id());
}

void DefaultCalls::AddToRevision(const v1::SearchState& state, const v1::CycleState& cycle,
                                 WorldModelPromptContext* context) const {
  if (context->code.has_value()) {
    context->confirmation = ConfirmationOf(state, context->code->candidate_id);
  }
  context->lessons.assign(cycle.lessons().begin(), cycle.lessons().end());
  context->complaint = cycle.complaint();
  context->refused_reply = cycle.refused_reply();
}

void DefaultCalls::AddToCode(const v1::SearchState& state, const v1::CycleState& cycle,
                             CodePromptContext* context) const {
  for (const std::string& lesson : cycle.lessons()) context->node.add_lessons(lesson);
  context->in_flight_text = CyclesInFlight(state, cycle.cycle());
}

const v1::ScreenedProgram& DefaultCalls::ImprovedProgram(const v1::CycleState& cycle) const {
  return cycle.best();
}

}  // namespace ksearch
