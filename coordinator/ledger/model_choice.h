#ifndef KSEARCH_COORDINATOR_LEDGER_MODEL_CHOICE_H_
#define KSEARCH_COORDINATOR_LEDGER_MODEL_CHOICE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"

namespace ksearch {

// Which of a role's models the next call goes to. Pure functions of what is committed: the same
// arms and the same draw choose the same model, whenever they are asked.

struct ChoiceRules {
  bool ucb = false;
  double cost_weight = 0.5;
  double exploration = 1;
  double epsilon = 0.2;
  double decay = 0.95;
};
ChoiceRules ChoiceRulesOf(const v1::RunConfig& config);

// A number in [0, 1) for the run's `call_number`-th call.
double ChoiceDraw(uint64_t seed, int64_t call_number);

// Index into `arms`, which has at least one; `weights` are those of the arms, in the same order
// (not all zero; ignored by the bandit).
//
// The bandit is ShinkaEvolve's asymmetric UCB: an arm's value is its decayed mean of e^gain - 1,
// relative to the largest seen, plus exploration * sqrt(2 ln t / n), where n counts calls in
// flight too; blended, by cost_weight, with how cheap the arm is: by its mean cost less an
// allowance for what is not known of it, which is in proportion to the range of single costs.
// Untried arms come first. The best arm gets a share of 1 - epsilon, the others share the rest; of
// several best ones each gets its part of that, and all alike are drawn alike. Where a model's cost
// is not known yet, it counts as the median of the others'.
size_t ChooseArm(absl::Span<const v1::ModelArm> arms, absl::Span<const double> weights,
                 const ChoiceRules& rules, double draw);

// A reply of the arm's model cost this much.
void NoteCost(int64_t nano_usd, v1::ModelArm* arm);

// A result of a call of `arms[index]`: `gain` over the better of parent and seed, in units of
// speed-up, at least 0; 0 for a reply that came to nothing. `arms` are all of the role.
void NoteGain(absl::Span<v1::ModelArm* const> arms, size_t index, double gain,
              const ChoiceRules& rules);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_MODEL_CHOICE_H_
