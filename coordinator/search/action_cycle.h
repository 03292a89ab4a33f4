#ifndef KSEARCH_COORDINATOR_SEARCH_ACTION_CYCLE_H_
#define KSEARCH_COORDINATOR_SEARCH_ACTION_CYCLE_H_

#include "coordinator/proposer/prompt.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The stagnation logic of one action's attempts, exactly as in K-Search's published code
// (arXiv 2602.19128). Pure.

struct AttemptOutcome {
  bool passed = false;
  double score = 0;  // meaningful iff passed
};

struct AttemptEffect {
  bool new_best = false;  // it is now the best of the cycle
  bool stagnant = false;  // the cycle has ended
};

// Before the first attempt. `base_score` <= 0 means that the base has none.
v1::CycleProgress NewCycleProgress(double base_score);

// Applies one finished attempt. `window` is W; values below 1 count as 1.
AttemptEffect FoldAttempt(const AttemptOutcome& outcome, int window, v1::CycleProgress* progress);

// The prompt of the next attempt. `has_base`: the parent's program is known; `has_program`: some
// attempt of this cycle had a program (a prompt cannot debug what does not exist).
CodePromptKind NextPromptKind(const v1::CycleProgress& progress, bool has_base, bool has_program);

// Returns true if the code shown as the base is the cycle's best rather than the parent's: from the
// second attempt on, once it beats the base.
bool BaseIsCycleBest(const v1::CycleProgress& progress);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ACTION_CYCLE_H_
