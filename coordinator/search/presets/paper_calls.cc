#include "coordinator/search/presets/paper_calls.h"

#include <string>
#include <utility>

#include "coordinator/search/shown_state.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// Limit for the chosen action's text in a published edit prompt; validation errors are appended to
// it before the cut, so that they hardly ever arrive (as in K-Search's published code).
constexpr size_t kActionText = 500;

std::string RemainingErrors(const v1::Action& action, const std::string& errors) {
  const size_t used =
      action.title().size() + action.description().size() + action.rationale().size();
  return used >= kActionText ? "" : errors.substr(0, kActionText - used);
}

}  // namespace

PaperCalls::PaperCalls(const SearchContext& context, const SearchSettings& settings,
                       Proposer proposer)
    : CallBuilder(context, settings, std::move(proposer)) {
  facts_.paper = true;
}

void PaperCalls::AddFacts(const v1::EvaluationLogState& /*log*/, PromptFacts* /*facts*/) const {}

void PaperCalls::AddOthers(const v1::SearchState& /*state*/, int /*own*/,
                           WorldModelPromptContext* /*context*/) const {}

// The first tree is made without seeing the program that the search continues from.
void PaperCalls::AddToInit(const v1::SearchState& /*state*/,
                           WorldModelPromptContext* /*context*/) const {}

void PaperCalls::AddToPropose(const v1::SearchState& state, const v1::WorldModel& /*tree*/,
                              WorldModelPromptContext* context) const {
  Show(state.last_program(), context);
  context->result.reset();
}

void PaperCalls::AddToRevision(const v1::SearchState& state, const v1::CycleState& cycle,
                               WorldModelPromptContext* context) const {
  const v1::Node* node = FindNode(state.world_model(), cycle.node_id());
  if (node != nullptr) context->complaint = RemainingErrors(node->action(), cycle.complaint());
}

void PaperCalls::AddToCode(const v1::SearchState& /*state*/, const v1::CycleState& /*cycle*/,
                           CodePromptContext* /*context*/) const {}

const v1::ScreenedProgram& PaperCalls::ImprovedProgram(const v1::CycleState& cycle) const {
  return cycle.last();
}

}  // namespace ksearch
