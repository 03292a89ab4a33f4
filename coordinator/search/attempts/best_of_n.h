#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_BEST_OF_N_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_BEST_OF_N_H_

#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy best_of_n: spends the budget on independent samples from the same prompt, which shows
// the task and, if one passed and was not refused, the given program. No sample sees the results of
// another. This is the control that every strategy with feedback must beat.
class BestOfN : public AttemptPolicy {
 public:
  // `settings` must be complete.
  explicit BestOfN(const v1::BestOfNSettings& settings) : show_seed_(settings.show_seed()) {}

  static void Complete(v1::BestOfNSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return false; }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;

 private:
  const bool show_seed_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_BEST_OF_N_H_
