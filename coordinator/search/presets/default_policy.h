#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_POLICY_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_POLICY_H_

#include <memory>
#include <string>

#include "coordinator/search/presets/tree_policy.h"

namespace ksearch {

// Preset default: works on several intents at a time; refuses invalid edits with a list of their
// errors; lowers the score of intents that keep failing and finally closes them; keeps lessons and
// gains with their nodes; evaluates no program twice; and learns from confirmations. Some of this
// is off in runs started by versions without it (SearchSettings).
class DefaultPolicy : public TreePolicy {
 public:
  void Settle(const SearchContext& context, SearchSettings* settings) const override;
  std::unique_ptr<TreeReviser> MakeReviser(const SearchSettings& settings, v1::SearchState* state,
                                           StepOutput* out) const override;
  std::unique_ptr<const CallBuilder> MakeCalls(const SearchContext& context,
                                               const SearchSettings& settings,
                                               Proposer proposer) const override;

  bool ClampsEdits() const override { return false; }
  std::string Refused(const std::string& reply) const override;
  std::string PlanIn(const std::string& reply) const override;
  bool AsksAgainForIntents(bool idle) const override { return idle; }

  void CompleteFirstTree(const v1::Task& /*task*/, v1::WorldModel* /*model*/) const override {}
  bool TakesAllGiven() const override { return true; }

  // Asks for intents once per revision of the tree.
  bool HasAskedForIntents(const v1::SearchState& state) const override;
  bool WaitsForIntents() const override { return false; }
  bool RepeatsEvaluations() const override { return false; }
  void NoteProgram(const v1::ScreenedProgram& /*program*/,
                   v1::SearchState* /*state*/) const override {}
  void NoteGain(const v1::ScreenedProgram& program, double before, const v1::CycleState& cycle,
                v1::SearchState* state) const override;
  void NoteLessons(const v1::CycleState& cycle, v1::WorldModel* model) const override;
  std::string NoteTooHard(const SearchSettings& settings, const v1::CycleState& cycle,
                          v1::SearchState* state) const override;
  // A revision that no later round can use is not worth its cost. If the budget is raised later, a
  // call for intents adds a continuation of the best node.
  bool RevisesAtTheEnd() const override { return false; }
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_POLICY_H_
