#ifndef KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device_lock.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/executor/verifier.h"

namespace ksearch {

// The devices of a worker. A job takes the first one that is free and fits, and shares it with
// nobody until it gives it back. Thread-safe.
class DevicePool {
 public:
  // All borrowed. Without a verifier (and lock) it stands for a device that is built for elsewhere.
  struct Slot {
    v1::DeviceClass device_class = v1::DEVICE_CLASS_CPU;
    DeviceMonitor* monitor = nullptr;
    DeviceLock* lock = nullptr;
    Verifier* verifier = nullptr;
  };
  // A device held until this is destroyed. Movable.
  struct Taken {
    const Slot* slot = nullptr;
    DeviceLock::Hold hold;
  };
  explicit DevicePool(std::vector<Slot> slots) : slots_(std::move(slots)) {}

  // Waits for as long as it takes. `architecture`: empty fits every device of the class.
  // FAILED_PRECONDITION: this worker has no such device. UNAVAILABLE: every one that fits is
  // unhealthy; the message says why. CANCELLED after `stop`.
  absl::StatusOr<Taken> Take(v1::DeviceClass device_class, const std::string& architecture,
                             std::stop_token stop);
  // For the time of a build: keeps the processors from being measured meanwhile. Nothing to hold
  // in a worker that does not measure them.
  absl::StatusOr<std::optional<DeviceLock::Hold>> HoldForBuild(std::stop_token stop);

  // The first device that fits, which speaks for results that end before a device is taken.
  // FAILED_PRECONDITION: this worker has no such device.
  absl::StatusOr<const Slot*> Example(v1::DeviceClass device_class,
                                      const std::string& architecture) const;
  // Healthy while any device is; the reasons of all that are not.
  v1::DeviceHealth Health();

  const std::vector<Slot>& slots() const { return slots_; }

 private:
  absl::StatusOr<std::vector<const Slot*>> Fitting(v1::DeviceClass device_class,
                                                   const std::string& architecture) const;

  const std::vector<Slot> slots_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_
