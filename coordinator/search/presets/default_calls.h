#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_CALLS_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_CALLS_H_

#include <utility>

#include "coordinator/search/call_builder.h"

namespace ksearch {

// Preset default: prompts show all available information, including that about other cycles.
class DefaultCalls : public CallBuilder {
 public:
  DefaultCalls(const SearchContext& context, const SearchSettings& settings, Proposer proposer)
      : CallBuilder(context, settings, std::move(proposer)) {}

 private:
  void AddFacts(const v1::EvaluationLogState& log, PromptFacts* facts) const override;
  void AddOthers(const v1::SearchState& state, int own,
                 WorldModelPromptContext* context) const override;
  void AddToInit(const v1::SearchState& state, WorldModelPromptContext* context) const override;
  void AddToPropose(const v1::SearchState& state, const v1::WorldModel& tree,
                    WorldModelPromptContext* context) const override;
  void AddToRevision(const v1::SearchState& state, const v1::CycleState& cycle,
                     WorldModelPromptContext* context) const override;
  void AddToCode(const v1::SearchState& state, const v1::CycleState& cycle,
                 CodePromptContext* context) const override;
  const v1::ScreenedProgram& ImprovedProgram(const v1::CycleState& cycle) const override;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_CALLS_H_
