#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_

#include <string>
#include <vector>

#include "common/clock.h"
#include "gpu_worker/verifier/timing/device/clock_watch.h"
#include "gpu_worker/verifier/timing/device/device_calls.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {

// What a warm-up found out.
struct WarmDevice {
  Ending ending;
  double call_us = 0;  // median, by events
  double host_us = 0;  // median time of the host within a call
  // The host takes so much longer than the device that a call's time is the host's.
  bool host_bound() const;
  // Too short for one event pair a call, or host-bound: a recorded graph tells more.
  bool wants_graph() const;
};

// Calls until at least kWarmUpCalls are made, `least` has passed and the clocks are steady, at most
// kMaxWarmUpTime.
WarmDevice WarmUpDevice(DeviceCalls& calls, CallDealer& dealer, absl::Duration least,
                        ClockWatch& watch, const Clock& clock);

// The sets of `count` graphs, each in an order of its own: enough calls that a replay is well above
// the resolution of events, if there are sets enough. `exactly` > 0: that many calls each, or as
// many as there are sets.
std::vector<std::vector<int>> OrdersOfGraphs(CallDealer& dealer, double call_us, int count,
                                             int exactly = 0);

// Graphs, recorded and tried.
struct DeviceGraphs {
  Ending ending;
  std::vector<std::vector<int>> sets;  // of each graph; empty: no graphs, see `reason`
  std::string reason;
  // An honest program may not survive a recording that failed: it needs a new process.
  bool spoiled = false;
};
// Graph i is of orders[i].
DeviceGraphs RecordGraphs(DeviceCalls& calls, CallDealer& dealer,
                          const std::vector<std::vector<int>>& orders);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_
