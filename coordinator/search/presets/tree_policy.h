#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_TREE_POLICY_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_TREE_POLICY_H_

#include <memory>
#include <string>

#include "coordinator/search/call_builder.h"
#include "coordinator/search/search_settings.h"
#include "coordinator/search/tree_reviser.h"
#include "proto/config.pb.h"
#include "proto/search_state.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// What makes one preset of strategy world_model differ from another; WorldModelStrategy does
// everything that they share. Stateless: what a policy remembers is in the search's state.
class TreePolicy {
 public:
  virtual ~TreePolicy() = default;

  // Fills in the settings that belong to the preset. Those that a run's configuration gives are
  // there already.
  virtual void Settle(const SearchContext& context, SearchSettings* settings) const = 0;
  // How replies become edits of the tree. Lives for one step; borrows everything.
  virtual std::unique_ptr<TreeReviser> MakeReviser(const SearchSettings& settings,
                                                   v1::SearchState* state,
                                                   StepOutput* out) const = 0;
  // What prompts show. Borrows `settings`.
  virtual std::unique_ptr<const CallBuilder> MakeCalls(const SearchContext& context,
                                                       const SearchSettings& settings,
                                                       Proposer proposer) const = 0;

  // ---- replies
  // Whether fields of an edit that are out of range are moved into it; else they are faults.
  virtual bool ClampsEdits() const = 0;
  // What the next prompt shows of a reply that was refused; empty: nothing.
  virtual std::string Refused(const std::string& reply) const = 0;
  // What a reply says of its program, to be kept with the cycle; empty: nothing.
  virtual std::string PlanIn(const std::string& reply) const = 0;
  // A call for new intents failed. `idle`: there is nothing else to do.
  virtual bool AsksAgainForIntents(bool idle) const = 0;

  // ---- the beginning
  virtual void CompleteFirstTree(const v1::Task& task, v1::WorldModel* model) const = 0;
  // Whether given programs beside the root's become nodes.
  virtual bool TakesAllGiven() const = 0;

  // ---- cycles
  // Whether this state of the search was asked about new intents already, so that the next cycle
  // takes what there is.
  virtual bool HasAskedForIntents(const v1::SearchState& state) const = 0;
  // Whether no cycle begins while new intents are asked for.
  virtual bool WaitsForIntents() const = 0;
  // Whether a program that was screened before is screened again.
  virtual bool RepeatsEvaluations() const = 0;
  // A program was screened last.
  virtual void NoteProgram(const v1::ScreenedProgram& program, v1::SearchState* state) const = 0;
  // `program` is the best of its cycle now, `before` the score it had to beat (-1: none).
  virtual void NoteGain(const v1::ScreenedProgram& program, double before,
                        const v1::CycleState& cycle, v1::SearchState* state) const = 0;
  // The cycle is over: what its failures taught.
  virtual void NoteLessons(const v1::CycleState& cycle, v1::WorldModel* model) const = 0;
  // The cycle is over and nothing passed. Returns what to add to the event's text.
  virtual std::string NoteTooHard(const SearchSettings& settings, const v1::CycleState& cycle,
                                  v1::SearchState* state) const = 0;
  // Whether the tree is revised after a cycle even if no round is left.
  virtual bool RevisesAtTheEnd() const = 0;
};

// One line a preset. PRESET_UNSPECIFIED is the default one.
std::unique_ptr<const TreePolicy> MakeTreePolicy(v1::Preset preset);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_TREE_POLICY_H_
