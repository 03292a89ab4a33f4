#include "gpu_worker/executor/device_prober.h"

#include <algorithm>
#include <utility>

#include "common/log.h"

namespace ksearch {
namespace {

// Pause before probing again a device that a job holds.
constexpr absl::Duration kAskAgain = absl::Milliseconds(50);
constexpr absl::Duration kLongestWait = absl::Seconds(1);
constexpr int kMostRests = 30;  // the longest rest, as a multiple of the first

}  // namespace

DeviceProber::~DeviceProber() {
  std::jthread thread;
  {
    MutexLock lock(&mu_);
    thread = std::move(thread_);
    thread.request_stop();
    changed_.NotifyAll();
  }
  if (thread.joinable()) thread.join();
}

void DeviceProber::Add(size_t device, std::string why) {
  MutexLock lock(&mu_);
  const auto [entry, added] = entries_.try_emplace(device);
  if (!added) return;
  entry->second.doubt.why = std::move(why);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](std::stop_token stop) { Loop(std::move(stop)); });
  }
  changed_.NotifyAll();
}

std::optional<DeviceProber::Doubt> DeviceProber::Find(size_t device) const {
  MutexLock lock(&mu_);
  const auto entry = entries_.find(device);
  if (entry == entries_.end()) return std::nullopt;
  return entry->second.doubt;
}

void DeviceProber::Settle(size_t device, const absl::Status& answer) {
  Entry& entry = entries_.at(device);
  const absl::Time now = Clock::Real().SteadyNow();
  if (answer.ok()) {
    LOG(INFO) << "msg=\"device answers again\" device=" << device << " trouble=\""
              << entry.doubt.why << "\"";
    entries_.erase(device);
  } else if (absl::IsUnavailable(answer)) {
    entry.next = now + std::min(kAskAgain * ++entry.not_asked, kLongestWait);
  } else {
    entry.doubt = {std::string(answer.message()), true};
    entry.not_asked = 0;
    entry.next = now + first_rest_ * std::min(1 << std::min(entry.failures++, 5), kMostRests);
    LOG(WARNING) << "msg=\"device does not answer\" device=" << device
                 << " probes=" << entry.failures << " error=\"" << answer.message() << "\"";
  }
}

std::optional<size_t> DeviceProber::AwaitNext(const std::stop_token& stop) {
  MutexLock lock(&mu_);
  while (!stop.stop_requested()) {
    const auto first = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& one, const auto& other) { return one.second.next < other.second.next; });
    if (first == entries_.end()) {
      changed_.Wait(&mu_);
      continue;
    }
    const absl::Duration wait = first->second.next - Clock::Real().SteadyNow();
    if (wait <= absl::ZeroDuration()) return first->first;
    changed_.WaitFor(&mu_, wait);
  }
  return std::nullopt;
}

void DeviceProber::Loop(std::stop_token stop) {
  while (const std::optional<size_t> device = AwaitNext(stop)) {
    const absl::Status answer = probe_(*device, stop);
    MutexLock lock(&mu_);
    Settle(*device, answer);
  }
}

}  // namespace ksearch
