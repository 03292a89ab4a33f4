#include "gpu_worker/executor/device_pool.h"

#include <condition_variable>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// Several lock files cannot be waited for at once, so they are asked again and again. Short against
// a measurement (seconds), long against asking (some microseconds a device).
constexpr absl::Duration kAskAgain = absl::Milliseconds(5);

void Rest(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(kAskAgain), [] { return false; });
}

}  // namespace

absl::StatusOr<std::vector<const DevicePool::Slot*>> DevicePool::Fitting(
    v1::DeviceClass device_class, const std::string& architecture) const {
  std::vector<const Slot*> fitting;
  for (const Slot& slot : slots_) {
    if (slot.device_class == device_class &&
        (architecture.empty() || slot.monitor->Fingerprint().architecture() == architecture)) {
      fitting.push_back(&slot);
    }
  }
  if (!fitting.empty()) return fitting;
  return absl::FailedPreconditionError(
      absl::StrCat("this worker has no ", v1::DeviceClass_Name(device_class),
                   architecture.empty() ? "" : " ", architecture, "; it has ",
                   absl::StrJoin(slots_, ", ", [](std::string* out, const Slot& slot) {
                     absl::StrAppend(out, v1::DeviceClass_Name(slot.device_class), " ",
                                     slot.monitor->Fingerprint().architecture());
                   })));
}

absl::StatusOr<DevicePool::Taken> DevicePool::Take(v1::DeviceClass device_class,
                                                   const std::string& architecture,
                                                   std::stop_token stop) {
  ASSIGN_OR_RETURN(const std::vector<const Slot*> fitting, Fitting(device_class, architecture));
  if (fitting.size() == 1) {
    // The lock itself knows how to wait, and lets those who measure go first.
    ASSIGN_OR_RETURN(DeviceLock::Hold hold,
                     fitting[0]->lock->Acquire(DeviceLock::Mode::kExclusive, stop));
    return Taken{fitting[0], std::move(hold)};
  }
  while (true) {
    std::vector<std::string> reasons;
    for (const Slot* const slot : fitting) {
      if (stop.stop_requested())
        return absl::CancelledError("cancelled while waiting for a device");
      ASSIGN_OR_RETURN(std::optional<DeviceLock::Hold> hold, slot->lock->TryAcquireExclusive());
      if (!hold.has_value()) continue;
      // Asked only when free: a device that others hold is none of our business now.
      const v1::DeviceHealth health = slot->monitor->Sample();
      if (health.healthy()) return Taken{slot, *std::move(hold)};
      reasons.push_back(health.reason());
    }
    if (reasons.size() == fitting.size()) {
      return absl::UnavailableError(absl::StrJoin(reasons, "; "));
    }
    Rest(stop);
  }
}

absl::StatusOr<std::optional<DeviceLock::Hold>> DevicePool::HoldForBuild(std::stop_token stop) {
  for (const Slot& slot : slots_) {
    if (slot.device_class != v1::DEVICE_CLASS_CPU || slot.lock == nullptr) continue;
    ASSIGN_OR_RETURN(DeviceLock::Hold hold, slot.lock->Acquire(DeviceLock::Mode::kShared, stop));
    return std::optional<DeviceLock::Hold>(std::move(hold));
  }
  return std::optional<DeviceLock::Hold>();
}

absl::StatusOr<const DevicePool::Slot*> DevicePool::Example(v1::DeviceClass device_class,
                                                            const std::string& architecture) const {
  ASSIGN_OR_RETURN(const std::vector<const Slot*> fitting, Fitting(device_class, architecture));
  return fitting[0];
}

v1::DeviceHealth DevicePool::Health() {
  v1::DeviceHealth health;
  std::vector<std::string> reasons;
  for (const Slot& slot : slots_) {
    const v1::DeviceHealth one = slot.monitor->Sample();
    if (one.healthy()) {
      health.set_healthy(true);
    } else {
      reasons.push_back(one.reason());
    }
  }
  // A healthy worker gives no reason, by protocol; the sick device shows in the worker's log.
  if (!health.healthy()) health.set_reason(absl::StrJoin(reasons, "; "));
  return health;
}

}  // namespace ksearch
