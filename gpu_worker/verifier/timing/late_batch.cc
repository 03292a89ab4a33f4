#include "gpu_worker/verifier/timing/late_batch.h"

#include <algorithm>
#include <cstdint>

#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {

Ending RunLateBatch(CallDealer& dealer, int calls, const LateRun& run, bool* seen) {
  calls = std::min(calls, dealer.most_calls());
  if (calls < 2) return {};
  for (int tries = 0; tries < kLateInputTries && !*seen; ++tries) {
    Ending ending = run(dealer.DealTo(dealer.PickSets(calls), 0), seen);
    if (!ending.passed()) return ending;
  }
  return {};
}

Ending MaybeRunLateBatch(ConfirmationSide* side, int calls, const WorkloadSession::BatchForm& form,
                         const WorkloadSession::Limits& limits) {
  if (!side->wants_late_inputs) return {};
  bool seen = false;
  Ending ending = RunLateBatch(
      *side->dealer, calls,
      [&](const std::vector<WorkloadSession::Call>& late, bool* in_time) {
        return side->session->RunWithLateInputs(late, form, limits, in_time);
      },
      &seen);
  side->wants_late_inputs = !seen;
  return ending;
}

}  // namespace ksearch
