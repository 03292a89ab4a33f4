#ifndef KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_PROBER_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_PROBER_H_

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace ksearch {

// Takes a device out of service after a job had a problem on it, until a probe passes. The first
// probe runs at once, later ones at growing intervals. Thread-safe.
class DeviceProber {
 public:
  // Checks that the device with this number responds. UNAVAILABLE means that it could not be asked,
  // which does not count as a try; any other error says why it stays out of service.
  using Probe = std::function<absl::Status(size_t device, std::stop_token stop)>;
  // The state of a device that is out of service.
  struct Doubt {
    std::string why;
    bool probed = false;  // a probe found no response; false: not probed yet
  };

  // `first_rest`: pause after a device's first failed probe; it doubles each time, up to 30 times
  // as long.
  DeviceProber(Probe probe, absl::Duration first_rest)
      : probe_(std::move(probe)), first_rest_(first_rest) {}
  ~DeviceProber();
  DeviceProber(const DeviceProber&) = delete;
  DeviceProber& operator=(const DeviceProber&) = delete;

  void Add(size_t device, std::string why);
  // nullopt: in service.
  std::optional<Doubt> Find(size_t device) const;

 private:
  struct Entry {
    Doubt doubt;
    absl::Time next = absl::InfinitePast();  // Clock::SteadyNow() scale
    int failures = 0;
    int not_asked = 0;  // consecutive
  };
  void Loop(std::stop_token stop);
  // Returns the next device to probe; nullopt once stopped.
  std::optional<size_t> AwaitNext(const std::stop_token& stop);
  void Settle(size_t device, const absl::Status& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Probe probe_;
  const absl::Duration first_rest_;
  mutable Mutex mu_;
  CondVar changed_;
  std::map<size_t, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::jthread thread_ ABSL_GUARDED_BY(mu_);  // from the first doubt on
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_DEVICE_PROBER_H_
