// SearchRun: changes that people make while it is in progress.
#include <algorithm>
#include <utility>

#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/engine/search_run.h"

namespace ksearch {
namespace {

constexpr int kChangesRemembered = 64;

}  // namespace

absl::Status SearchRun::Steer(const v1::SteerRunRequest& change, absl::Status* refusal) {
  *refusal = absl::OkStatus();
  const auto& known = state_.steered();
  if (std::find(known.begin(), known.end(), change.request_id()) != known.end()) {
    return absl::OkStatus();
  }
  if (HasEnded(status_.state())) {
    *refusal = absl::FailedPreconditionError("the run has ended; resume it first");
    return absl::OkStatus();
  }
  if (change.change_case() == v1::SteerRunRequest::kPause) {
    if (state_.paused() == change.pause()) return absl::OkStatus();
    state_.set_paused(change.pause());
    v1::RunEvent event;
    event.set_kind(v1::RunEvent::STEERED);
    event.set_text(change.pause() ? "paused by a person" : "continues after a pause");
    AddEvent(std::move(event));
  } else if (replays_) {
    *refusal = absl::FailedPreconditionError(
        "this run repeats a recorded one: it can be paused, but not edited");
    return absl::OkStatus();
  } else {
    const absl::StatusOr<StepOutput> output = strategy_->OnSteered(change);
    if (!output.ok()) {
      *refusal = output.status();
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(Take(*output));
  }
  state_.add_steered(change.request_id());
  if (state_.steered_size() > kChangesRemembered) {
    state_.mutable_steered()->DeleteSubrange(0, state_.steered_size() - kChangesRemembered);
  }
  return Commit();
}

}  // namespace ksearch
