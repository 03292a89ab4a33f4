#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_SEQUENTIAL_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_SEQUENTIAL_H_

#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy sequential: every attempt refines the best program so far, with its results, a line on
// each of the last attempts, and how the last one failed if it did. While no program works, the
// last one that failed is repaired. With several attempts in flight, each starts from the best
// program at that time. A program that its confirmation refused is no longer the best.
class Sequential : public AttemptPolicy {
 public:
  // `settings` must be complete.
  explicit Sequential(const v1::SequentialSettings& settings)
      : history_(settings.history()), reply_form_(settings.reply_form()) {}

  static void Complete(v1::SequentialSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return true; }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;

 private:
  const int history_;
  const v1::ReplyForm reply_form_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_SEQUENTIAL_H_
