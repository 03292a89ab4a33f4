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
  // `config` is complete, its budget the one in force. INVALID_ARGUMENT: a cap cannot be read.
  static absl::StatusOr<BudgetGate> Create(const v1::RunConfig& config);

  // What the store shall hold the run to.
  std::vector<LedgerCaps> StoreCaps() const;

  struct Passed {
    std::vector<LlmCallRow> calls;      // call_id, run_id and created are the caller's to set
    std::vector<int64_t> call_numbers;  // of those
    std::vector<JobRequestRow> jobs;
    // Why something still waits, for people; empty: nothing does.
    std::string blocked;
  };
  // Moves from the state's held_asks and held_jobs what fits; counts calls in its arms. `ledger` as
  // read from the store, `again` the rows of the held asks that say so, by call number. `closed`:
  // no call passes.
  Passed Pass(std::vector<LedgerRow> ledger, absl::Duration wall_time,
              const std::vector<std::pair<int64_t, LlmCallRow>>& again, bool closed,
              v1::RunEngineState* state) const;

  // Notes in `state` and returns, as events, which shares (50, 80, 95 %) of which caps have newly
  // been used up.
  std::vector<v1::RunEvent> Warnings(const std::vector<LedgerRow>& ledger, absl::Duration wall_time,
                                     v1::RunEngineState* state) const;

  // ---- what the models have brought
  // A reply of the call was folded; `useful`: it led to something.
  void NoteReply(const LlmCallRow& call, bool useful, v1::RunEngineState* state) const;
  // A candidate of the call was screened, `gain` faster than what it was built on.
  void NoteGain(const LlmCallRow& call, double gain, v1::RunEngineState* state) const;

  // Zero rates for a model without a price.
  v1::ResolvedPrice PriceOf(const std::string& provider, const std::string& model) const;
  const RunCaps& caps() const { return caps_; }
  // Whether a model that the run may ask has no known price.
  bool unpriced() const;

 private:
  BudgetGate(v1::RunConfig config, RunCaps caps);

  // The models of a role, every field filled in.
  std::vector<v1::ModelUse> UsesOf(const std::string& role) const;
  // The role's arms in the order of its uses; missing ones are added to the state.
  static std::vector<v1::ModelArm*> ArmsOf(const std::string& role, size_t uses,
                                           v1::RunEngineState* state);
  // Index of the call's model among those of its role; -1: no longer one of them.
  int UseOf(const LlmCallRow& call) const;
  LlmCallRow RowFor(const v1::HeldAsk& ask, const v1::ModelUse& use) const;

  v1::RunConfig config_;
  RunCaps caps_;
  ChoiceRules rules_;
};

// Whether the model is asked in that role.
bool Serves(const v1::ModelUse& use, const std::string& role);

// The models a run may ask, in a fixed order: those listed, then `provider` and `model` for the
// roles that no entry names. Roles are filled in only where given.
std::vector<v1::ModelUse> AllUses(const v1::RunConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_BUDGET_GATE_H_
