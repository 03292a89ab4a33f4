#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_POLICY_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_POLICY_H_

#include <memory>
#include <string>

#include "coordinator/search/presets/tree_policy.h"

namespace ksearch {

// Preset paper: K-Search exactly as published (arXiv 2602.19128 and its code). Asks for intents at
// the start of every cycle, does not remember failures, and leaves an intent that was too hard
// unchanged.
class PaperPolicy : public TreePolicy {
 public:
  void Settle(const SearchContext& context, SearchSettings* settings) const override;
  std::unique_ptr<TreeReviser> MakeReviser(const SearchSettings& settings, v1::SearchState* state,
                                           StepOutput* out) const override;
  std::unique_ptr<const CallBuilder> MakeCalls(const SearchContext& context,
                                               const SearchSettings& settings,
                                               Proposer proposer) const override;

  bool ClampsEdits() const override { return true; }
  std::string Refused(const std::string& /*reply*/) const override { return ""; }
  std::string PlanIn(const std::string& /*reply*/) const override { return ""; }
  bool AsksAgainForIntents(bool /*idle*/) const override { return false; }

  // Copies the beginning of the task's reference text to the root's notes.
  void CompleteFirstTree(const v1::Task& task, v1::WorldModel* model) const override;
  bool TakesAllGiven() const override { return false; }

  bool HasAskedForIntents(const v1::SearchState& state) const override;
  bool WaitsForIntents() const override { return true; }
  bool RepeatsEvaluations() const override { return true; }
  // Prompts for intents show the last program, whatever its result.
  void NoteProgram(const v1::ScreenedProgram& program, v1::SearchState* state) const override;
  void NoteGain(const v1::ScreenedProgram& /*program*/, double /*before*/,
                const v1::CycleState& /*cycle*/, v1::SearchState* /*state*/) const override {}
  void NoteLessons(const v1::CycleState& /*cycle*/, v1::WorldModel* /*model*/) const override {}
  std::string NoteTooHard(const SearchSettings& /*settings*/, const v1::CycleState& /*cycle*/,
                          v1::SearchState* /*state*/) const override {
    return "";
  }
  bool RevisesAtTheEnd() const override { return true; }
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_POLICY_H_
