#include "coordinator/search/action_cycle.h"

#include <algorithm>

namespace ksearch {

v1::CycleProgress NewCycleProgress(double base_score) {
  v1::CycleProgress progress;
  progress.set_base_score(base_score > 0 ? base_score : -1);
  progress.set_best_score(-1);
  return progress;
}

AttemptEffect FoldAttempt(const AttemptOutcome& outcome, int window, v1::CycleProgress* progress) {
  AttemptEffect effect;
  effect.new_best =
      outcome.passed && (!progress->has_best() || outcome.score > progress->best_score());
  if (effect.new_best) {
    progress->set_has_best(true);
    progress->set_best_score(outcome.score);
    progress->set_not_better(0);
  } else {
    progress->set_not_better(progress->not_better() + 1);
  }
  if (progress->has_best() && progress->base_score() > 0) {
    const bool above = progress->best_score() > progress->base_score();
    progress->set_below_base(above ? 0 : progress->below_base() + 1);
  }
  progress->set_attempts(progress->attempts() + 1);
  const int limit = std::max(1, window);
  effect.stagnant = progress->not_better() >= limit || progress->below_base() >= limit;
  return effect;
}

CodePromptKind NextPromptKind(const v1::CycleProgress& progress, bool has_base, bool has_program) {
  if (progress.attempts() == 0 || !has_program) {
    return has_base ? CodePromptKind::kActionOnBase : CodePromptKind::kActionFromSpec;
  }
  return progress.has_best() ? CodePromptKind::kImprove : CodePromptKind::kDebug;
}

bool BaseIsCycleBest(const v1::CycleProgress& progress) {
  return progress.attempts() > 0 && progress.has_best() &&
         progress.best_score() > progress.base_score();
}

}  // namespace ksearch
