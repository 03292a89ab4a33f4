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

// The result of a reply that should revise the tree.
struct Revision {
  bool done = false;      // nothing more needs to be asked
  std::string complaint;  // else: why not, in words for the model
};

// Revises the tree of a search: applies the language model's edits by the preset's rules, and adds
// nodes itself if the model fails to. Emits an event for every node that is added or removed and
// for every script that is refused. The differences between presets are in presets/. Exists for one
// step; borrows everything.
class TreeReviser {
 public:
  TreeReviser(const SearchSettings& settings, v1::SearchState* state, StepOutput* out)
      : settings_(settings), state_(*state), out_(*out) {}
  virtual ~TreeReviser() = default;

  // INIT. `last`: no more replies will come, so the best result so far must be used.
  virtual Revision Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) = 0;

  // PROPOSE asks for new actions; K-Search's published code does so at the start of every cycle.
  // ProposeRequirement says in words what a reply must contain; Propose processes one.
  virtual std::string ProposeRequirement() const = 0;
  virtual Revision Propose(const absl::StatusOr<v1::EditScript>& script) = 0;
  // Ends PROPOSE; inserts a deterministic child of the best node if that still has none.
  virtual void FinishPropose() = 0;
  // The tree with all edits accepted so far. If some are not applied yet, it is built in `edited`;
  // otherwise it is the search's own tree.
  const v1::WorldModel& ProposedTree(v1::WorldModel* edited) const;
  // Returns true if the frontier is too small or the best node lacks a continuation.
  bool WantsProposals() const;

  // REFINE (2.5) after `cycle` solved its node.
  virtual Revision Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) = 0;
  // Ends REFINE; inserts a deterministic continuation of the solved node if it still has none.
  virtual void FinishRefine(const v1::CycleState& cycle) = 0;

  // TOO-HARD (2.6).
  virtual Revision NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                               const v1::CycleState& cycle) = 0;

  // Applies a person's edits, all or none, whatever the run's preset. INVALID_ARGUMENT names every
  // error; the tree is then unchanged.
  absl::Status Steer(const v1::EditScript& script);

 protected:
  // `own` is the cycle that the edits are about; null: none.
  EditOptions OptionsFor(int round, const v1::CycleState* own) const;
  EditReport Apply(const v1::EditScript& script, const EditOptions& options);
  // Emits events about what an edit did and which errors it had, or about a reply that is not an
  // edit.
  void Report(const EditReport& report, int cycle, int round);
  void Unusable(const absl::Status& status, int cycle, int round, absl::string_view node_id);
  void Tell(v1::RunEvent::Kind kind, absl::string_view text, int cycle, int round,
            absl::string_view node_id);

  // Returns true if the frontier has an action with a score above 0.5.
  static bool HasPromisingAction(const v1::WorldModel& model);
  // Returns true if the best solved node has no open child.
  static bool BestLacksChild(const v1::WorldModel& model);
  // Describes the child that is demanded for it.
  static std::string DemandForBest(const v1::WorldModel& model);
  // Returns true if the node has an open child that is not too difficult.
  static bool HasEasyOpenChild(const v1::WorldModel& model, absl::string_view node_id);
  static std::string NoContinuation(const std::string& node_id);
  // Insert nodes without a model: one under the best node, if it has no child; one under the node
  // that `cycle` solved, if it has none; one under the root.
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
