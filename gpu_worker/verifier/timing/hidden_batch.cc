#include "gpu_worker/verifier/timing/hidden_batch.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ksearch {

Ending MaybeRunHiddenBatch(ConfirmationSide* side, int calls,
                           const WorkloadSession::BatchForm& form,
                           const WorkloadSession::Limits& limits) {
  Rng& rng = side->dealer->rng();
  if (side->hidden == nullptr) return {};
  const ConfirmationCase::Hidden& hidden = *std::exchange(side->hidden, nullptr);
  std::vector<WorkloadSession::Call> batch =
      side->dealer->DealTo(side->dealer->PickSets(std::min(calls, side->dealer->most_calls())), 0);
  if (!side->is_candidate) {
    return side->session->Run(batch, WorkloadSession::Mode::kTimed, form, {}, limits).ending;
  }
  batch[rng.NextBelow(batch.size())].variant = hidden.oracles.begin()->first;
  Ending ending = side->session->RunWithCase(hidden.workload, batch, form, hidden.oracles, limits);
  if (!ending.passed()) {
    ending.message =
        absl::StrCat("hidden case '", hidden.name, "', among timed calls: ", ending.message);
  }
  return ending;
}

}  // namespace ksearch
