#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_BEST_OF_N_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_BEST_OF_N_H_

#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy best_of_n: the budget is spent on independent samples from the same prompt, which has
// the task and, if there is one that passed and was not refused, the given program. Nothing that
// any sample led to is shown to another: the control that every strategy with feedback has to beat.
class BestOfN : public AttemptPolicy {
 public:
  // `settings`: completed ones.
  explicit BestOfN(const v1::BestOfNSettings& settings) : show_seed_(settings.show_seed()) {}

  static void Complete(v1::BestOfNSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return false; }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;

 private:
  const bool show_seed_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_BEST_OF_N_H_
