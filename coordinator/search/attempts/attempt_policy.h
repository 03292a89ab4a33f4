#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_

#include "proto/search_state.pb.h"

namespace ksearch {

// Attempts that have ended of which the state keeps a record.
inline constexpr int kKeptAttempts = 32;

// What makes one strategy of attempts differ from another: what the next attempt is built from.
// AttemptSearch does everything else. A pure function of the state, so that a restored search plans
// as it would have.
class AttemptPolicy {
 public:
  virtual ~AttemptPolicy() = default;

  // Whether its prompts show what was measured: else profiles are not worth their time.
  virtual bool shows_results() const = 0;
  // `state`: with every attempt that has ended, and the others under way.
  virtual v1::AttemptPlan Plan(const v1::AttemptSearchState& state) const = 0;
};

// The program with the best score among those that passed and stand; null: there is none. Of equal
// ones the earlier counts.
const v1::ScreenedProgram* BestStanding(const v1::EvaluationLogState& log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_
