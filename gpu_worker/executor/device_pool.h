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

// The devices of a worker. A job takes the first device that is free and fits, and has it
// exclusively until it returns it. Thread-safe.
class DevicePool {
 public:
  // Everything is borrowed. Without a verifier (and lock) it represents a device that is only built
  // for.
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

  // Waits as long as necessary, also while a device in doubt is being probed. `architecture`: empty
  // fits every device of the class. FAILED_PRECONDITION: this worker has no such device.
  // UNAVAILABLE: every device that fits is unhealthy; the message says why. CANCELLED after `stop`.
  // The device with the id `avoid` is taken only if no other that fits is free. `model`: only a
  // device of this name; empty: any.
  absl::StatusOr<Taken> Take(v1::DeviceClass device_class, const std::string& architecture,
                             std::stop_token stop, const std::string& avoid = "",
                             const std::string& model = "");

  // Returns the first device that fits, which represents the device in results that end before one
  // is taken. FAILED_PRECONDITION: this worker has no such device.
  absl::StatusOr<const Slot*> Example(v1::DeviceClass device_class, const std::string& architecture,
                                      const std::string& model = "") const;
  // Healthy while any device is. Contains every unhealthy device with the reason, otherwise the
  // others that take turns on them; and the devices' readings (DeviceReadings). Logs changes.
  v1::DeviceHealth Health();
  // Notes that a job had a problem that the device may have caused: it gets no more jobs until its
  // verifier has seen it respond.
  void Doubt(const Slot& slot, const std::string& why);
  // Doubts every GPU if there are several, so that a broken one is found before a job gets it.
  void DoubtAll();

  const std::vector<Slot>& slots() const { return slots_; }

 private:
  absl::StatusOr<std::vector<const Slot*>> Fitting(v1::DeviceClass device_class,
                                                   const std::string& architecture,
                                                   const std::string& model) const;
  size_t NumberOf(const Slot& slot) const { return static_cast<size_t>(&slot - slots_.data()); }
  // Returns why a device accepts no jobs, because of itself or because it is in doubt; OK if it
  // does. UNAVAILABLE: not known yet.
  absl::Status State(const Slot& slot);
  absl::Status Probe(size_t number, std::stop_token stop);

  const std::vector<Slot> slots_;
  Mutex mu_;
  // A process of another worker that has held the device lock.
  struct Other {
    std::string who;
    absl::Time seen;
  };
  // Facts about healthy devices that people should know. To be called often.
  std::string SharedText() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::vector<std::string> reported_ ABSL_GUARDED_BY(mu_);  // reasons as last logged, by slot
  std::map<size_t, Other> others_ ABSL_GUARDED_BY(mu_);     // by slot
  DeviceReadings readings_ ABSL_GUARDED_BY(mu_);
  DeviceProber prober_;  // last: its thread uses the others
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_POOL_H_
