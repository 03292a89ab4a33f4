#ifndef KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "gpu_worker/device/device_lock.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/executor/device_prober.h"
#include "gpu_worker/executor/device_readings.h"
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
  // `first_rest`: of DeviceProber.
  explicit DevicePool(std::vector<Slot> slots, absl::Duration first_rest = absl::Seconds(2));

  // Waits for as long as it takes, also while a device in doubt is being probed. `architecture`:
  // empty fits every device of the class. FAILED_PRECONDITION: this worker has no such device.
  // UNAVAILABLE: every one that fits is unhealthy; the message says why. CANCELLED after `stop`.
  // The device with the id `avoid` is taken only if no other that fits is free. `model`: only a
  // device of this name; empty: any.
  absl::StatusOr<Taken> Take(v1::DeviceClass device_class, const std::string& architecture,
                             std::stop_token stop, const std::string& avoid = "",
                             const std::string& model = "");
  // For the time of a build: keeps the processors from being measured meanwhile. Nothing to hold
  // in a worker that does not measure them.
  absl::StatusOr<std::optional<DeviceLock::Hold>> HoldForBuild(std::stop_token stop);

  // The first device that fits, which speaks for results that end before a device is taken.
  // FAILED_PRECONDITION: this worker has no such device.
  absl::StatusOr<const Slot*> Example(v1::DeviceClass device_class, const std::string& architecture,
                                      const std::string& model = "") const;
  // Healthy while any device is; every one that is not, with the reason, and otherwise who else
  // takes turns on them; and what the devices read (DeviceReadings). Logs what changes.
  v1::DeviceHealth Health();
  // A job had trouble that may be the device's: it takes no more jobs until its verifier has seen
  // it answer.
  void Doubt(const Slot& slot, const std::string& why);
  // Doubts every GPU, if there are several: one that does not work is found before a job meets it.
  void DoubtAll();

  const std::vector<Slot>& slots() const { return slots_; }

 private:
  absl::StatusOr<std::vector<const Slot*>> Fitting(v1::DeviceClass device_class,
                                                   const std::string& architecture,
                                                   const std::string& model) const;
  size_t NumberOf(const Slot& slot) const { return static_cast<size_t>(&slot - slots_.data()); }
  // Why a device takes no jobs, itself or in doubt; OK: it does. UNAVAILABLE: not known yet.
  absl::Status State(const Slot& slot);
  absl::Status Probe(size_t number, std::stop_token stop);

  const std::vector<Slot> slots_;
  Mutex mu_;
  // A process of another worker that has held the device lock.
  struct Other {
    std::string who;
    absl::Time seen;
  };
  // What people should know of devices that are well; to be called often.
  std::string SharedText() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::vector<std::string> reported_ ABSL_GUARDED_BY(mu_);  // reasons, as last logged; by slot
  std::map<size_t, Other> others_ ABSL_GUARDED_BY(mu_);     // by slot
  DeviceReadings readings_ ABSL_GUARDED_BY(mu_);
  DeviceProber prober_;  // last: its thread uses the others
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_
