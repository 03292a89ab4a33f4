#ifndef KSEARCH_COORDINATOR_LEDGER_MODEL_CHOICE_H_
#define KSEARCH_COORDINATOR_LEDGER_MODEL_CHOICE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"

namespace ksearch {

// Chooses which of a role's models gets the next call. Pure functions of committed state: the same
// arms and the same draw choose the same model.

struct ChoiceRules {
  bool ucb = false;
  double cost_weight = 0.5;
  double exploration = 1;
  double epsilon = 0.2;
  double decay = 0.95;
};
ChoiceRules ChoiceRulesOf(const v1::RunConfig& config);

// Returns a number in [0, 1) for the run's `call_number`-th call.
double ChoiceDraw(uint64_t seed, int64_t call_number);

// Returns an index into `arms`, which must not be empty. `weights` belong to the arms in the same
// order (not all zero; ignored by the bandit).
//
// The bandit is ShinkaEvolve's asymmetric UCB: the value of an arm is its decayed mean of e^gain -
// 1, relative to the largest seen, plus exploration * sqrt(2 ln t / n), where n includes calls in
// flight. The value is blended, by cost_weight, with how cheap the arm is: its mean cost less an
// allowance for uncertainty, which is in proportion to the range of single costs. Untried arms come
// first. The best arm gets a share of 1 - epsilon, and the others share the rest; several equally
// good best arms split their share evenly, and if all arms are equally good, each is equally
// likely. An unknown cost counts as the median of the other arms' costs.
size_t ChooseArm(absl::Span<const v1::ModelArm> arms, absl::Span<const double> weights,
                 const ChoiceRules& rules, double draw);

// Records the cost of one reply of the arm's model.
void NoteCost(int64_t nano_usd, v1::ModelArm* arm);

// Records the result of a call of `arms[index]`. `gain`: improvement over the better of parent and
// seed, in units of speed-up, at least 0; 0 for a reply without a usable result. `arms` are all
// arms of the role.
void NoteGain(absl::Span<v1::ModelArm* const> arms, size_t index, double gain,
              const ChoiceRules& rules);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_MODEL_CHOICE_H_
