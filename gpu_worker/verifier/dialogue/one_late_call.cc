#include "gpu_worker/verifier/dialogue/one_late_call.h"

#include <algorithm>
#include <thread>

namespace ksearch {
namespace {

// Inputs come late within the first part of a call, so that it is mostly still at work.
constexpr double kLatePartOfCall = 0.7;
// No longer than this: the program may need every core.
constexpr absl::Duration kAwakeTime = absl::Milliseconds(50);

}  // namespace

OneLateCall::OneLateCall(const RunnerLink& link, BufferSets& buffers, const Clock& clock,
                         const std::vector<FilledSet>& calls, absl::Duration call_time, Rng* rng)
    : link_(link), buffers_(buffers), clock_(clock), calls_(calls), rng_(rng) {
  const size_t others = calls.size() - 1;
  if (rng->NextBelow(3) == 0) {
    // At some point of the call before it: a thread may work only one call ahead.
    place_ = 1 + static_cast<size_t>(rng->NextBelow(others));
    done_ = place_ - 1;
    further_ = kLatePartOfCall * rng->NextDouble() * call_time;
  } else {
    // Whenever it would not have begun yet, one of the later calls: the first may do the work of
    // all, one after the other.
    place_ = 1 + others / 2 + static_cast<size_t>(rng->NextBelow(others - others / 2));
    further_ = rng->NextDouble() * static_cast<double>(place_) * call_time;
  }
}

bool OneLateCall::Withhold() {
  inputs_ = buffers_.Withhold(call(), rng_);
  return inputs_ != nullptr;
}

void OneLateCall::Deliver(uint64_t poison_salt, absl::Time deadline) {
  if (done_ > 0) {
    Await([&] { return !buffers_.IsPending(calls_[done_ - 1].set, poison_salt); }, deadline);
  }
  AwaitTime(clock_.SteadyNow() + further_, deadline);
  inputs_->Deliver();
  in_time_ = buffers_.IsPending(calls_[place_ - 1].set, poison_salt);
  // Awake, so that the runner is stopped the sooner once it says "done": what a thread of the
  // program was to finish while this process wakes up is missing.
  AwaitTime(clock_.SteadyNow() + kAwakeTime, deadline);
}

void OneLateCall::Await(const std::function<bool()>& done, absl::Time deadline) const {
  while (!done() && !link_.Answered() && clock_.SteadyNow() < deadline) std::this_thread::yield();
}

void OneLateCall::AwaitTime(absl::Time time, absl::Time deadline) const {
  Await([&] { return clock_.SteadyNow() >= time; }, deadline);
}

}  // namespace ksearch
