#include "gpu_worker/executor/device_pool.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// Several lock files cannot be waited for at once, so this polls them. Short compared with a
// measurement (seconds), long compared with one poll (some microseconds a device).
constexpr absl::Duration kAskAgain = absl::Milliseconds(5);

// A newly started verifier opens the device in under a second; a device that is resetting takes
// longer.
constexpr absl::Duration kProbeTime = absl::Seconds(30);

// A job that waits for another device skips an unhealthy device for this long.
constexpr absl::Duration kLookAgain = absl::Milliseconds(500);

// Another worker holds the lock for seconds at a time; it counts as gone after this time without.
constexpr absl::Duration kRemembered = absl::Minutes(5);

struct Sick {
  std::string reason;
  absl::Time look_again;
};

std::vector<DeviceMonitor*> MonitorsOf(const std::vector<DevicePool::Slot>& slots) {
  std::vector<DeviceMonitor*> monitors;
  for (const DevicePool::Slot& slot : slots) {
    // A device of another machine, for which this worker only builds, has nothing to read.
    if (slot.verifier != nullptr) monitors.push_back(slot.monitor);
  }
  return monitors;
}

void Rest(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(kAskAgain), [] { return false; });
}

}  // namespace

DevicePool::DevicePool(std::vector<Slot> slots, absl::Duration first_rest)
    : slots_(std::move(slots)),
      reported_(slots_.size()),
      readings_(MonitorsOf(slots_)),
      prober_(
          [this](size_t number, std::stop_token stop) { return Probe(number, std::move(stop)); },
          first_rest) {}

absl::StatusOr<std::vector<const DevicePool::Slot*>> DevicePool::Fitting(
    v1::DeviceClass device_class, const std::string& architecture, const std::string& model) const {
  std::vector<const Slot*> fitting;
  for (const Slot& slot : slots_) {
    const v1::DeviceFingerprint print = slot.monitor->Fingerprint();
    if (slot.device_class == device_class &&
        (architecture.empty() || print.architecture() == architecture) &&
        (model.empty() || print.name() == model)) {
      fitting.push_back(&slot);
    }
  }
  if (!fitting.empty()) return fitting;
  return absl::FailedPreconditionError(absl::StrCat(
      "this worker has no ", v1::DeviceClass_Name(device_class), architecture.empty() ? "" : " ",
      architecture, model.empty() ? "" : " ", model, "; it has ",
      absl::StrJoin(slots_, ", ", [&](std::string* out, const Slot& slot) {
        const v1::DeviceFingerprint print = slot.monitor->Fingerprint();
        absl::StrAppend(out, v1::DeviceClass_Name(slot.device_class), " ", print.architecture(),
                        model.empty() ? "" : " ", model.empty() ? "" : print.name());
      })));
}

absl::Status DevicePool::State(const Slot& slot) {
  const v1::DeviceHealth health = slot.monitor->Sample();
  if (!health.healthy()) return absl::FailedPreconditionError(health.reason());
  const std::optional<DeviceProber::Doubt> doubt = prober_.Find(NumberOf(slot));
  if (!doubt.has_value()) return absl::OkStatus();
  return doubt->probed ? absl::FailedPreconditionError(doubt->why)
                       : absl::UnavailableError(doubt->why);
}

absl::StatusOr<DevicePool::Taken> DevicePool::Take(v1::DeviceClass device_class,
                                                   const std::string& architecture,
                                                   std::stop_token stop, const std::string& avoid,
                                                   const std::string& model) {
  ASSIGN_OR_RETURN(std::vector<const Slot*> fitting, Fitting(device_class, architecture, model));
  std::stable_partition(fitting.begin(), fitting.end(), [&](const Slot* slot) {
    return slot->monitor->Fingerprint().device_id() != avoid;
  });
  std::map<const Slot*, Sick> sick;
  while (true) {
    for (const Slot* const slot : fitting) {
      if (stop.stop_requested())
        return absl::CancelledError("cancelled while waiting for a device");
      const auto known = sick.find(slot);
      if (known != sick.end() && Clock::Real().SteadyNow() < known->second.look_again) continue;
      std::optional<DeviceLock::Hold> hold;
      if (!prober_.Find(NumberOf(*slot)).has_value()) {
        if (fitting.size() == 1) {
          // The lock itself can wait, and prefers processes that measure.
          ASSIGN_OR_RETURN(hold, slot->lock->Acquire(DeviceLock::Mode::kExclusive, stop));
        } else {
          ASSIGN_OR_RETURN(hold, slot->lock->TryAcquireExclusive());
        }
        if (!hold.has_value()) {
          // The job that holds it found it healthy.
          sick.erase(slot);
          continue;
        }
      }
      const absl::Status state = State(*slot);
      if (state.ok() && hold.has_value()) return Taken{slot, *std::move(hold)};
      sick.erase(slot);
      if (!state.ok() && !absl::IsUnavailable(state)) {
        sick[slot] = {std::string(state.message()), Clock::Real().SteadyNow() + kLookAgain};
      }
    }
    if (sick.size() == fitting.size()) {
      return absl::UnavailableError(absl::StrJoin(
          sick, "; ",
          [](std::string* out, const auto& one) { absl::StrAppend(out, one.second.reason); }));
    }
    Rest(stop);
  }
}

void DevicePool::Doubt(const Slot& slot, const std::string& why) {
  if (slot.verifier != nullptr) prober_.Add(NumberOf(slot), why);
}

void DevicePool::DoubtAll() {
  std::vector<const Slot*> gpus;
  for (const Slot& slot : slots_) {
    if (slot.device_class == v1::DEVICE_CLASS_CUDA) gpus.push_back(&slot);
  }
  if (gpus.size() < 2) return;
  for (const Slot* const slot : gpus) Doubt(*slot, "not asked yet");
}

absl::Status DevicePool::Probe(size_t number, std::stop_token stop) {
  const Slot& slot = slots_[number];
  ASSIGN_OR_RETURN(const std::optional<DeviceLock::Hold> hold, slot.lock->TryAcquireExclusive());
  if (!hold.has_value()) return absl::UnavailableError("a job holds the device");
  // The monitor's reading suffices; the device is probed once the monitor calls it healthy.
  if (!slot.monitor->Sample().healthy()) return absl::UnavailableError("the device is unhealthy");
  const absl::Status answer =
      slot.verifier->Probe(Clock::Real().SteadyNow() + kProbeTime, std::move(stop));
  // FAILED_PRECONDITION, whatever the code: the device was probed.
  return answer.ok() ? answer : absl::FailedPreconditionError(answer.message());
}

absl::StatusOr<const DevicePool::Slot*> DevicePool::Example(v1::DeviceClass device_class,
                                                            const std::string& architecture,
                                                            const std::string& model) const {
  ASSIGN_OR_RETURN(const std::vector<const Slot*> fitting,
                   Fitting(device_class, architecture, model));
  return fitting[0];
}

v1::DeviceHealth DevicePool::Health() {
  v1::DeviceHealth health;
  health.set_devices(static_cast<int32_t>(slots_.size()));
  MutexLock lock(&mu_);
  std::vector<std::string> reasons;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const absl::Status state = State(slots_[i]);
    const bool serves = state.ok() || absl::IsUnavailable(state);
    const std::string reason = serves ? "" : std::string(state.message());
    const std::string id = slots_[i].monitor->Fingerprint().device_id();
    if (serves) {
      health.set_healthy(true);
    } else {
      reasons.push_back(reason);
      v1::SickDevice& sick = *health.add_sick_devices();
      sick.set_device_id(id);
      sick.set_reason(reason);
    }
    if (reason.empty() != reported_[i].empty()) {
      if (serves) {
        LOG(INFO) << "msg=\"device back in service\" id=" << id;
      } else {
        LOG(WARNING) << "msg=\"device out of service\" id=" << id << " reason=\"" << reason << "\"";
      }
      reported_[i] = reason;
    }
  }
  health.set_reason(health.healthy() ? SharedText() : absl::StrJoin(reasons, "; "));
  for (const v1::DeviceReading& reading : readings_.At(Clock::Real().SteadyNow())) {
    *health.add_readings() = reading;
  }
  return health;
}

std::string DevicePool::SharedText() {
  const absl::Time now = Clock::Real().SteadyNow();
  std::vector<std::string> shared;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].lock == nullptr) continue;
    std::string who = slots_[i].lock->HeldByAnother();
    if (!who.empty()) others_[i] = {std::move(who), now};
    const auto other = others_.find(i);
    if (other == others_.end()) continue;
    if (now - other->second.seen > kRemembered) {
      others_.erase(other);
      continue;
    }
    shared.push_back(absl::StrCat(
        slots_[i].monitor->Fingerprint().device_id(),
        " is shared, in turns, with another worker of this machine: ", other->second.who));
  }
  return absl::StrJoin(shared, "; ");
}

}  // namespace ksearch
