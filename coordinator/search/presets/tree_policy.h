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

// The differences between the presets of strategy world_model; WorldModelStrategy does everything
// that they share. Stateless: a policy remembers only through the search's state.
class TreePolicy {
 public:
  virtual ~TreePolicy() = default;

  // Fills in the preset's settings, except those that the run's configuration has set.
  virtual void Settle(const SearchContext& context, SearchSettings* settings) const = 0;
  // Makes the object that turns replies into edits of the tree. It exists for one step and borrows
  // everything.
  virtual std::unique_ptr<TreeReviser> MakeReviser(const SearchSettings& settings,
                                                   v1::SearchState* state,
                                                   StepOutput* out) const = 0;
  // Makes the object that builds prompts. It borrows `settings`.
  virtual std::unique_ptr<const CallBuilder> MakeCalls(const SearchContext& context,
                                                       const SearchSettings& settings,
                                                       Proposer proposer) const = 0;

  // ---- replies

  // Whether out-of-range fields of an edit are clamped; otherwise they are errors.
  virtual bool ClampsEdits() const = 0;
  // The part of a refused reply that the next prompt shows; empty: none.
  virtual std::string Refused(const std::string& reply) const = 0;
  // Returns a reply's words about its program, to be kept with the cycle; empty if there are none.
  virtual std::string PlanIn(const std::string& reply) const = 0;
  // Returns true if the search asks again after a call for new intents failed. `idle`: there is
  // nothing else to do.
  virtual bool AsksAgainForIntents(bool idle) const = 0;

  // ---- the beginning
  virtual void CompleteFirstTree(const v1::Task& task, v1::WorldModel* model) const = 0;
  // Returns true if given programs other than the root's become nodes.
  virtual bool TakesAllGiven() const = 0;

  // ---- cycles

  // Whether new intents were already requested for this state of the search, so that
  // the next cycle chooses among the existing ones.
  virtual bool HasAskedForIntents(const v1::SearchState& state) const = 0;
  // Returns true if no cycle begins while a request for new intents is in progress.
  virtual bool WaitsForIntents() const = 0;
  // Returns true if a program that was screened before is screened again.
  virtual bool RepeatsEvaluations() const = 0;
  // Called when a program has been screened.
  virtual void NoteProgram(const v1::ScreenedProgram& program, v1::SearchState* state) const = 0;
  // Called when `program` becomes the best of its cycle; `before` is the score that it had to beat
  // (-1: none).
  virtual void NoteGain(const v1::ScreenedProgram& program, double before,
                        const v1::CycleState& cycle, v1::SearchState* state) const = 0;
  // Called when the cycle is over, to record the lessons of its failures.
  virtual void NoteLessons(const v1::CycleState& cycle, v1::WorldModel* model) const = 0;
  // Called when the cycle is over and nothing passed. Returns text to add to the event.
  virtual std::string NoteTooHard(const SearchSettings& settings, const v1::CycleState& cycle,
                                  v1::SearchState* state) const = 0;
  // Returns true if the tree is revised after a cycle even if no round is left.
  virtual bool RevisesAtTheEnd() const = 0;
};

// One line per preset. PRESET_UNSPECIFIED means the default preset.
std::unique_ptr<const TreePolicy> MakeTreePolicy(v1::Preset preset);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_TREE_POLICY_H_
