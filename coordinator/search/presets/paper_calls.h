#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_CALLS_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_CALLS_H_

#include "coordinator/search/call_builder.h"

namespace ksearch {

// Preset paper: prompts have the same content as those of K-Search's published code. An attempt
// continues from the last program of its cycle, even if that failed and there is a better one.
class PaperCalls : public CallBuilder {
 public:
  PaperCalls(const SearchContext& context, const SearchSettings& settings, Proposer proposer);

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

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_CALLS_H_
