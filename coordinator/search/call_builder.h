#ifndef KSEARCH_COORDINATOR_SEARCH_CALL_BUILDER_H_
#define KSEARCH_COORDINATOR_SEARCH_CALL_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/search/code_answer.h"
#include "coordinator/search/judge.h"
#include "coordinator/search/search_settings.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The proposer's functions for the search: they make prompts and parse replies. Pure functions.
struct Proposer {
  std::function<Prompt(const PromptFacts&, const CodePromptContext&)> code_prompt;
  std::function<Prompt(const PromptFacts&, const WorldModelPromptContext&)> world_model_prompt;
  ParseCode parse_code;
  std::function<absl::StatusOr<v1::EditScript>(const std::string& reply)> parse_edits;
  // Describes for models what a confirmation found wrong (ConfirmationFindings).
  std::function<std::vector<std::string>(const v1::Task&, const v1::JobResult&,
                                         const std::string& rival_id)>
      read_confirmation;
  JudgeProposer judge = {};
};

// Turns the state of a search into model calls: chooses the prompt, the code in it and its role,
// and the complaint. What differs between presets is in presets/. Pure; the caller sets call
// numbers.
class CallBuilder {
 public:
  virtual ~CallBuilder() = default;

  AskModel Init(const v1::SearchState& state) const;
  // `tree`: the world model to show, see TreeReviser::ProposedTree.
  AskModel Propose(const v1::SearchState& state, const v1::WorldModel& tree,
                   const std::string& requirement) const;
  // REFINE or TOO-HARD, by the cycle's phase.
  AskModel Revise(const v1::SearchState& state, const v1::CycleState& cycle) const;
  AskModel Code(const v1::SearchState& state, const v1::CycleState& cycle) const;
  // The program that the cycle's next attempt should make faster; null if the attempt starts from
  // none or repairs one.
  const v1::ScreenedProgram* JudgedProgram(const v1::SearchState& state,
                                           const v1::CycleState& cycle) const;
  // The judge's question about `program`.
  AskModel Judge(const v1::SearchState& state, const v1::CycleState& cycle,
                 const v1::ScreenedProgram& program) const;

  const Proposer& proposer() const { return proposer_; }

 protected:
  CallBuilder(const SearchContext& context, const SearchSettings& settings, Proposer proposer);

  // Each adds to the content common to all presets.
  virtual void AddFacts(const v1::EvaluationLogState& log, PromptFacts* facts) const = 0;
  // `own`: the number of the cycle that the call is about; 0: none.
  virtual void AddOthers(const v1::SearchState& state, int own,
                         WorldModelPromptContext* context) const = 0;
  virtual void AddToInit(const v1::SearchState& state, WorldModelPromptContext* context) const = 0;
  virtual void AddToPropose(const v1::SearchState& state, const v1::WorldModel& tree,
                            WorldModelPromptContext* context) const = 0;
  virtual void AddToRevision(const v1::SearchState& state, const v1::CycleState& cycle,
                             WorldModelPromptContext* context) const = 0;
  virtual void AddToCode(const v1::SearchState& state, const v1::CycleState& cycle,
                         CodePromptContext* context) const = 0;
  // The program that an attempt to improve continues from.
  virtual const v1::ScreenedProgram& ImprovedProgram(const v1::CycleState& cycle) const = 0;

  PromptFacts facts_;  // those known at the start

 private:
  // The constant facts, with what has been measured since.
  PromptFacts FactsAt(const v1::SearchState& state) const;
  AskModel WorldModelCall(const v1::SearchState& state, const WorldModelPromptContext& context,
                          const std::string& purpose, int attempt, int cycle, int own) const;

  const SearchSettings& settings_;
  const Proposer proposer_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CALL_BUILDER_H_
