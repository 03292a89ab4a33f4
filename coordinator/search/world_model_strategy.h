#ifndef KSEARCH_COORDINATOR_SEARCH_WORLD_MODEL_STRATEGY_H_
#define KSEARCH_COORDINATOR_SEARCH_WORLD_MODEL_STRATEGY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/search/call_builder.h"
#include "coordinator/search/evaluation_log.h"
#include "coordinator/search/presets/tree_policy.h"
#include "coordinator/search/search_settings.h"
#include "coordinator/search/search_strategy.h"
#include "coordinator/search/tree_reviser.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// K-Search: a tree of intents that a model revises after every cycle of attempts at one of them.
//
// It consists of an EvaluationLog, a tree, and the policy of its preset (presets/), which decides
// when to ask for what, how replies become edits, and what prompts show. Preset paper with parallel
// = 1 is the published serial loop (arXiv 2602.19128). Preset default works on up to `parallel`
// intents at once, refuses invalid edits, closes intents that keep failing, evaluates no program
// twice, and asks for new intents while others are worked on. A program that its confirmation
// refused is no longer a base or a solution: its node is open again, and its next cycle, which has
// priority over all others, starts by repairing it. Rounds started never exceed config.rounds. All
// state is in one v1::SearchState: every input changes it, and then Advance requests whatever is
// missing, so that a restored state continues exactly.
class WorldModelStrategy : public SearchStrategy {
 public:
  WorldModelStrategy(const SearchContext& context, Proposer proposer);

  StepOutput Start() override;
  StepOutput OnAnswer(const ModelAnswer& answer) override;
  StepOutput OnScreened(const ScreenResult& result) override;
  StepOutput OnProfiled(const ScreenResult& result) override;
  StepOutput OnExamined(const ScreenResult& result) override;
  StepOutput OnBaseline(const ScreenResult& result) override;
  StepOutput OnConfirmed(const Confirmation& confirmation) override;
  absl::StatusOr<StepOutput> OnSteered(const v1::SteerRunRequest& change) override;
  std::string Save() const override;
  absl::StatusOr<StepOutput> Restore(const std::string& state) override;
  void Describe(v1::RunStatus* status) const override;
  const v1::WorldModel* world_model() const override { return &state_.world_model(); }

 private:
  // Inputs. Each only changes state_ and adds events.
  void FoldInit(const absl::StatusOr<v1::EditScript>& script, StepOutput* out);
  void FoldPropose(const absl::StatusOr<v1::EditScript>& script, StepOutput* out);
  void FoldCode(const LlmReply& reply, v1::CycleState* cycle, StepOutput* out);
  void FoldRevision(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle,
                    StepOutput* out);
  void FoldFailedCall(const ModelAnswer& answer, StepOutput* out);
  // Returns false if the call was not to the judge.
  bool FoldVerdict(const ModelAnswer& answer, StepOutput* out);
  // Has the program examined if that is wanted, in which case the attempt ends later; false if it
  // is not wanted.
  bool BeginExamination(const v1::ScreenedProgram& program, const std::string& screen_tag,
                        v1::CycleState* cycle, StepOutput* out);
  // Continues after a program was screened and, if wanted, examined: it is profiled if wanted, and
  // then the attempt ends. Whatever shows the program also shows the findings.
  void TakeExamined(const v1::ScreenedProgram& program, const std::string& screen_tag,
                    const std::string& lesson, v1::CycleState* cycle, StepOutput* out);
  // Continues after the seed was screened and, if wanted, profiled.
  void SettleSeed(v1::ScreenedProgram program, StepOutput* out);
  // Continues once no result of a given program is outstanding.
  void SettleSeeds();
  // Solved nodes under the root for the given programs that are not the root's.
  void InsertGivenPrograms(StepOutput* out);
  // Keeps a program for later prompts to build on.
  void KeepSolution(const v1::ScreenedProgram& program);

  // Changes by people (world_model_steering.cc). ScreenSolution changes nothing on an error;
  // TakeSolution returns false if `result` does not belong to a program that a person gave.
  absl::Status ScreenSolution(const v1::GivenSolution& given, StepOutput* out);
  bool TakeSolution(const ScreenResult& result, StepOutput* out);
  bool AwaitsSolution(const std::string& candidate_id) const;

  // Attempts and cycles.
  void BeginAttempt(v1::CycleState* cycle);
  void EndAttempt(const v1::ScreenedProgram* program, const std::string& lesson,
                  v1::CycleState* cycle, StepOutput* out);
  // A cycle whose best program after two attempts is far behind the best one of the run: see
  // WorldModelSettings.dominated_ratio.
  bool IsDominated(const v1::CycleState& cycle) const;
  void EndCycle(v1::CycleState* cycle, StepOutput* out);
  void RemoveCycle(int cycle);
  void EndPropose(StepOutput* out);

  // Returns the lesson for the attempt; empty if there is none.
  std::string LearnFromExamination(const v1::JobResult& result, v1::CycleState* cycle,
                                   StepOutput* out);

  // Confirmations and examinations. Withdraw takes a refused program out of every place that the
  // search builds on.
  void Withdraw(const std::string& candidate_id, const v1::ConfirmedProgram& confirmed,
                StepOutput* out);
  // If the seed was refused: a node of its own for its repair.
  void InsertRepairOfSeed(StepOutput* out);
  // Gives the cycle the nearest ancestor's program that was not refused, or none.
  void Rebase(v1::CycleState* cycle);
  // The node whose refused program is to be repaired next; null if none waits.
  const v1::Node* NodeToRepair() const;
  // Returns true if no attempt has ended since the cycle's best was refused: the current one was
  // requested before.
  static bool WasJustRefused(const v1::CycleState& cycle);
  // A cycle on a node that waits for a repair begins with the refused program.
  void BeginRepair(v1::CycleState* cycle);

  // Requests everything that is wanted and not yet in progress.
  void Advance(StepOutput* out);
  bool ServeCycle(v1::CycleState* cycle, StepOutput* out);
  bool ServeScreen(v1::CycleState* cycle, StepOutput* out);
  bool StartCycle(StepOutput* out);
  void Finish(v1::SearchState::Stage stage, std::string reason);
  int64_t Ask(AskModel ask, StepOutput* out);

  std::unique_ptr<TreeReviser> Reviser(StepOutput* out) {
    return policy_->MakeReviser(settings_, &state_, out);
  }
  EvaluationLog log() { return EvaluationLog(settings_.evaluation, state_.mutable_log(), &saved_); }
  bool rounds_left() const { return state_.rounds_started() < settings_.rounds; }
  std::vector<std::string> NodesInFlight() const;
  v1::CycleState* FindCycle(int cycle);

  const SearchContext context_;
  const std::unique_ptr<const TreePolicy> policy_;
  const SearchSettings settings_;
  const std::unique_ptr<const CallBuilder> calls_;
  v1::SearchState state_;
  mutable SavedPrograms saved_;
  mutable SavedPrograms saved_solutions_{v1::SearchState::kSolutionsFieldNumber};
  // A state of an earlier version includes its tree, and continues to include it until the tree
  // changes: only then is it certain that the shelf has it, too.
  static constexpr int64_t kNoRevision = -1;
  int64_t revision_in_state_ = kNoRevision;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_WORLD_MODEL_STRATEGY_H_
