#ifndef KSEARCH_COORDINATOR_ENGINE_BUDGET_GATE_H_
#define KSEARCH_COORDINATOR_ENGINE_BUDGET_GATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/ledger/model_choice.h"
#include "coordinator/ledger/run_caps.h"
#include "coordinator/store/rows.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"

namespace ksearch {

// Admits a run's model calls and jobs as far as its budget allows, and chooses the model of each
// call. Depends on its arguments alone; the store checks the same caps again in the transaction
// that creates the calls. Immutable after construction.
class BudgetGate {
 public:
  // `config` must be complete and contain the budget in force. INVALID_ARGUMENT: a cap cannot be
  // parsed.
  static absl::StatusOr<BudgetGate> Create(const v1::RunConfig& config);

  // The caps that the store enforces for the run.
  std::vector<LedgerCaps> StoreCaps() const;

  struct Passed {
    std::vector<LlmCallRow> calls;      // call_id, run_id and created are the caller's to set
    std::vector<int64_t> call_numbers;  // of those
    std::vector<JobRequestRow> jobs;
    // Why something is still waiting, in words for people; empty if nothing is.
    std::string blocked;
  };
  // Moves those of the state's held_asks and held_jobs that fit into the budget, and counts calls
  // in its arms. `ledger` comes from the store; `again` has the rows of held asks that are
  // repeated, by call number. `closed`: no call passes.
  Passed Pass(std::vector<LedgerRow> ledger, absl::Duration wall_time,
              const std::vector<std::pair<int64_t, LlmCallRow>>& again, bool closed,
              v1::RunEngineState* state) const;

  // Returns events for the shares (50, 80, 95 %) of caps that have newly been used up, and records
  // them in `state`.
  std::vector<v1::RunEvent> Warnings(const std::vector<LedgerRow>& ledger, absl::Duration wall_time,
                                     v1::RunEngineState* state) const;

  // ---- what the models have contributed

  // A reply to the call was processed. `useful`: it is not an error and, if its role writes
  // programs, it has one that was, or may still be, screened.
  void NoteReply(const LlmCallRow& call, bool useful, v1::RunEngineState* state) const;
  // A candidate of the call was screened and was faster by `gain` than the program it was built on.
  void NoteGain(const LlmCallRow& call, double gain, v1::RunEngineState* state) const;

  // The model's price; zero rates for a model without one.
  v1::ResolvedPrice PriceOf(const std::string& provider, const std::string& model) const;
  const RunCaps& caps() const { return caps_; }
  // Returns true if a model that the run may ask has no known price.
  bool unpriced() const;

 private:
  BudgetGate(v1::RunConfig config, RunCaps caps);

  // The models of a role, every field filled in.
  std::vector<v1::ModelUse> UsesOf(const std::string& role) const;
  // The role's arms in the order of its uses; missing ones are added to the state.
  static std::vector<v1::ModelArm*> ArmsOf(const std::string& role, size_t uses,
                                           v1::RunEngineState* state);
  // Index of the call's model among those of its role; -1 if it is no longer one of them.
  int UseOf(const LlmCallRow& call) const;
  LlmCallRow RowFor(const v1::HeldAsk& ask, const v1::ModelUse& use) const;

  v1::RunConfig config_;
  RunCaps caps_;
  ChoiceRules rules_;
};

// Returns true if the model is asked in that role.
bool Serves(const v1::ModelUse& use, const std::string& role);

// The models a run may ask, in a fixed order: those listed, then `provider` and `model` for the
// roles that no entry names. Roles are filled in only where given.
std::vector<v1::ModelUse> AllUses(const v1::RunConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_BUDGET_GATE_H_
