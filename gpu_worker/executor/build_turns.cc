#include "gpu_worker/executor/build_turns.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// How often the lock is looked at while something is built.
constexpr absl::Duration kLookAgain = absl::Milliseconds(100);

}  // namespace

BuildTurns::~BuildTurns() {
  std::jthread thread;  // joined without the lock
  MutexLock lock(&mu_);
  thread = std::move(thread_);
  thread.request_stop();
  changed_.NotifyAll();
}

absl::StatusOr<BuildTurns::Turn> BuildTurns::Begin(std::stop_token stop) {
  ASSIGN_OR_RETURN(DeviceLock::Hold hold, lock_.Acquire(DeviceLock::Mode::kShared, stop));
  MutexLock lock(&mu_);
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token own) { Loop(own); });
  const int64_t number = next_++;
  builds_.emplace(number, std::move(hold));
  changed_.NotifyAll();
  return Turn(this, number);
}

void BuildTurns::End(int64_t number) {
  MutexLock lock(&mu_);
  builds_.erase(number);
  if (builds_.empty()) common_.reset();
}

void BuildTurns::Loop(std::stop_token stop) {
  absl::Time waits_since = absl::InfiniteFuture();
  while (!stop.stop_requested()) {
    {
      MutexLock lock(&mu_);
      if (builds_.empty()) {
        waits_since = absl::InfiniteFuture();
        // Looked at under the lock: the destructor requests the stop under it, too.
        if (!stop.stop_requested()) changed_.Wait(&mu_);
        continue;
      }
      changed_.WaitFor(&mu_, kLookAgain);
    }
    const absl::Time now = Clock::Real().SteadyNow();
    waits_since =
        lock_.AwaitedByMeasurement() ? std::min(waits_since, now) : absl::InfiniteFuture();
    if (now - waits_since < patience_) continue;
    GiveWay(stop);
    waits_since = absl::InfiniteFuture();
  }
}

void BuildTurns::GiveWay(std::stop_token stop) {
  const absl::Time begin = Clock::Real().SteadyNow();
  sandbox_.Pause();
  LOG(INFO) << "msg=\"builds paused\" because=\"a measurement waited\"";
  {
    MutexLock lock(&mu_);
    for (auto& [number, hold] : builds_) hold.reset();
    common_.reset();
  }
  absl::StatusOr<DeviceLock::Hold> again = lock_.Acquire(DeviceLock::Mode::kShared, stop);
  if (again.ok()) {
    MutexLock lock(&mu_);
    if (!builds_.empty()) common_ = *std::move(again);
  } else if (!absl::IsCancelled(again.status())) {
    LOG(WARNING) << "msg=\"builds go on beside measurements\" reason=\"" << again.status().message()
                 << "\"";
  }
  sandbox_.Resume();
  LOG(INFO) << "msg=\"builds continue\" paused=" << Clock::Real().SteadyNow() - begin;
}

}  // namespace ksearch
