#ifndef KSEARCH_COORDINATOR_SEARCH_TREE_REVISER_H_
#define KSEARCH_COORDINATOR_SEARCH_TREE_REVISER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/search/search_settings.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// What a reply that should revise the tree came to.
struct Revision {
  bool done = false;      // nothing more to ask for
  std::string complaint;  // else: why not, in words for the model
};

// Revises the tree of a search: the language model's edits, judged by the preset's rules, and the
// nodes that the machine adds when the model fails to. Emits an event for every node that comes or
// goes and every script refused. What presets judge differently is in presets/. Lives for one step;
// borrows everything.
class TreeReviser {
 public:
  TreeReviser(const SearchSettings& settings, v1::SearchState* state, StepOutput* out)
      : settings_(settings), state_(*state), out_(*out) {}
  virtual ~TreeReviser() = default;

  // INIT. `last`: no more replies will come, so make do.
  virtual Revision Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) = 0;

  // PROPOSE: asks for new actions, which K-Search's published code does at the start of every
  // cycle. What a reply must bring, in words; and what one came to.
  virtual std::string ProposeRequirement() const = 0;
  virtual Revision Propose(const absl::StatusOr<v1::EditScript>& script) = 0;
  // Ends it, with the deterministic child of the best node if that still has none.
  virtual void FinishPropose() = 0;
  // The tree with the edits accepted so far, also those that are not applied yet: `edited`, or the
  // search's own where there are none of these.
  const v1::WorldModel& ProposedTree(v1::WorldModel* edited) const;
  // Whether the frontier is too small or the best node lacks a continuation.
  bool WantsProposals() const;

  // REFINE (2.5) after `cycle` solved its node.
  virtual Revision Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) = 0;
  // Ends it, with the deterministic continuation of the solved node if it still has none.
  virtual void FinishRefine(const v1::CycleState& cycle) = 0;

  // TOO-HARD (2.6).
  virtual Revision NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                               const v1::CycleState& cycle) = 0;

  // A person's edits, all of them or none, whatever the run's preset. INVALID_ARGUMENT names every
  // fault; the tree is as it was.
  absl::Status Steer(const v1::EditScript& script);

 protected:
  // `own`: the cycle that the edits are about; null: none.
  EditOptions OptionsFor(int round, const v1::CycleState* own) const;
  EditReport Apply(const v1::EditScript& script, const EditOptions& options);
  // Events on what an edit did and what was wrong with it, or on a reply that is no edit.
  void Report(const EditReport& report, int cycle, int round);
  void Unusable(const absl::Status& status, int cycle, int round, absl::string_view node_id);
  void Tell(v1::RunEvent::Kind kind, absl::string_view text, int cycle, int round,
            absl::string_view node_id);

  // The frontier has an action with a score above a half.
  static bool HasPromisingAction(const v1::WorldModel& model);
  // The best solved node has no open child.
  static bool BestLacksChild(const v1::WorldModel& model);
  // Says in words what child of it is demanded.
  static std::string DemandForBest(const v1::WorldModel& model);
  // The node has an open child that is not hopelessly hard.
  static bool HasEasyOpenChild(const v1::WorldModel& model, absl::string_view node_id);
  static std::string NoContinuation(const std::string& node_id);
  // Nodes of the machine's own: one under the best node, if it lacks one; one under the node that
  // `cycle` solved, if it has none; one under the root.
  void ContinueBest(int round);
  void ContinueSolved(const v1::CycleState& cycle, int round);
  void InsertDirectAction(absl::string_view why);

  const SearchSettings& settings_;
  v1::SearchState& state_;

 private:
  void InsertMachineNode(v1::Node node, int cycle, int round, absl::string_view why);

  StepOutput& out_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_TREE_REVISER_H_
