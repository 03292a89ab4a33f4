#include "coordinator/llm/flow/call_gate.h"

#include <algorithm>

namespace ksearch {

CallGate::CallGate(GateOptions options)
    : options_(options), limit_(std::min(options.initial_concurrency, options.max_concurrency)) {}

bool CallGate::Tripped() const { return failures_ >= options_.breaker_failures; }

absl::Duration CallGate::TryEnter(absl::Time now) {
  MutexLock lock(&mu_);
  if (now < closed_until_) return closed_until_ - now;
  if (Tripped() && now < tripped_until_) return tripped_until_ - now;
  if (in_flight_ >= (Tripped() ? 1 : limit_)) return absl::InfiniteDuration();
  ++in_flight_;
  return absl::ZeroDuration();
}

void CallGate::Leave(AttemptEnd end, absl::Time entered, absl::Time now) {
  MutexLock lock(&mu_);
  --in_flight_;
  switch (end) {
    case AttemptEnd::kCancelled:
      return;
    case AttemptEnd::kAnswered:
      failures_ = 0;
      if (++answers_ < options_.answers_per_step) return;
      answers_ = 0;
      limit_ = std::min(limit_ + 1, options_.max_concurrency);
      return;
    case AttemptEnd::kThrottled:
      if (entered >= shrunk_) {
        limit_ = std::max(limit_ / 2, 1);
        shrunk_ = now;
      }
      break;
    case AttemptEnd::kFailed:
      break;
  }
  answers_ = 0;
  ++failures_;
  if (Tripped()) tripped_until_ = now + options_.breaker_pause;
}

void CallGate::CloseUntil(absl::Time when) {
  MutexLock lock(&mu_);
  closed_until_ = std::max(closed_until_, when);
}

absl::Duration CallGate::RestsFor(absl::Time now) const {
  MutexLock lock(&mu_);
  absl::Time until = closed_until_;
  if (Tripped()) until = std::max(until, tripped_until_);
  return until > now ? until - now : absl::ZeroDuration();
}

int CallGate::limit() const {
  MutexLock lock(&mu_);
  return limit_;
}

std::shared_ptr<CallGate> CallGates::Named(const std::string& name, const GateOptions& options) {
  MutexLock lock(&mu_);
  std::shared_ptr<CallGate>& gate = gates_[name];
  if (gate == nullptr) gate = std::make_shared<CallGate>(options);
  return gate;
}

}  // namespace ksearch
