#ifndef KSEARCH_COORDINATOR_SEARCH_TREE_REVISER_H_
#define KSEARCH_COORDINATOR_SEARCH_TREE_REVISER_H_

#include <string>
#include <vector>

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
// goes and every script refused. Lives for one step; borrows everything.
class TreeReviser {
 public:
  TreeReviser(const SearchSettings& settings, v1::SearchState* state, StepOutput* out)
      : settings_(settings), state_(*state), out_(*out) {}

  // INIT. `last`: no more replies will come, so make do. Preset default demands three open actions;
  // in the end it takes the best script so far, or one deterministic action.
  Revision Initialize(const absl::StatusOr<v1::EditScript>& script, bool last);

  // PROPOSE: asks for new actions, which K-Search's published code does at the start of every
  // cycle.
  Revision Propose(const absl::StatusOr<v1::EditScript>& script);
  // Ends it, with the deterministic child of the best node if that still has none.
  void FinishPropose();
  // The tree with the edits accepted so far; differs from the state's own in preset paper only.
  v1::WorldModel ProposedTree() const;
  // What a PROPOSE must bring, in words.
  std::string ProposeRequirement() const;
  // Whether the frontier is too small or the best node lacks a continuation.
  bool WantsProposals() const;

  // REFINE (2.5) after `cycle` solved its node.
  Revision Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle);
  // Ends it, with the deterministic continuation of the solved node if it still has none.
  void FinishRefine(const v1::CycleState& cycle);

  // TOO-HARD (2.6): one reply in preset paper, retries while the script is invalid in default.
  Revision NoteTooHard(const absl::StatusOr<v1::EditScript>& script, const v1::CycleState& cycle);

 private:
  EditOptions OptionsFor(int round, const v1::CycleState* own) const;
  EditReport Apply(const v1::EditScript& script, const EditOptions& options);
  void Report(const EditReport& report, int cycle, int round);
  void Unusable(const absl::Status& status, int cycle, int round, absl::string_view node_id);
  void InsertMachineNode(v1::Node node, int cycle, int round, absl::string_view why);
  void InsertDirectAction(absl::string_view why);
  void Tell(v1::RunEvent::Kind kind, absl::string_view text, int cycle, int round,
            absl::string_view node_id);

  const SearchSettings& settings_;
  v1::SearchState& state_;
  StepOutput& out_;
};

// Appends the head of a task's reference text, if it has one, to the root's notes, as the published
// system does after INIT.
void AppendReferenceToRoot(const std::string& reference_text, v1::WorldModel* model);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_TREE_REVISER_H_
