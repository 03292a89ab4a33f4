#include "gpu_worker/verifier/dialogue/calls_in_turn.h"

#include <atomic>
#include <limits>
#include <thread>

namespace ksearch {
namespace {

// How long this thread waits for a call before it offers its core to others, which may keep it for
// milliseconds.
constexpr absl::Duration kSpinTime = absl::Milliseconds(1);
// Between two looks at the clock: a read takes some nanoseconds.
constexpr int kReads = 64;

}  // namespace

bool CallsInTurn::Withhold() {
  turns_ = buffers_.turns();
  if (turns_ == nullptr || !link_.runner_pid().has_value()) return false;
  for (size_t i = 1; i < calls_.size(); ++i) {
    std::unique_ptr<LateInputs> inputs = buffers_.WithholdAll(calls_[i], calls_[0]);
    if (inputs == nullptr) break;
    inputs_.push_back(std::move(inputs));
  }
  if (inputs_.size() + 1 == calls_.size()) cores_ = SeparateCores::Make(*link_.runner_pid());
  if (cores_ == nullptr) {
    for (const std::unique_ptr<LateInputs>& inputs : inputs_) inputs->Deliver();
    return false;
  }
  turns_->released.store(0, std::memory_order_relaxed);
  turns_->returned.store(0, std::memory_order_release);
  return true;
}

void CallsInTurn::Deliver(uint64_t poison_salt, absl::Time deadline) {
  for (uint32_t i = 0; i < calls_.size(); ++i) {
    if (i > 0) inputs_[i - 1]->Deliver();
    const absl::Time released = clock_.SteadyNow();
    turns_->released.store(i + 1, std::memory_order_release);
    if (!AwaitReturns(i + 1, deadline)) break;
    us_.push_back(absl::ToDoubleMicroseconds(clock_.SteadyNow() - released));
    // The program, too, can write to the page.
    if (buffers_.IsPending(calls_[i].set, poison_salt)) unfinished_ = true;
    buffers_.RememberPlaces({calls_[i]}, rng_);
  }
  // If something went wrong, nothing waits for this process any more.
  turns_->released.store(std::numeric_limits<uint32_t>::max(), std::memory_order_release);
  cores_.reset();
}

bool CallsInTurn::AwaitReturns(uint32_t calls, absl::Time deadline) const {
  const absl::Time offer = clock_.SteadyNow() + kSpinTime;
  while (!HaveReturned(calls)) {
    const absl::Time now = clock_.SteadyNow();
    if (link_.Answered() || now >= deadline) return HaveReturned(calls);
    if (now >= offer) std::this_thread::yield();
  }
  return true;
}

bool CallsInTurn::HaveReturned(uint32_t calls) const {
  for (int reads = 0; reads < kReads; ++reads) {
    if (turns_->returned.load(std::memory_order_acquire) >= calls) return true;
  }
  return false;
}

}  // namespace ksearch
