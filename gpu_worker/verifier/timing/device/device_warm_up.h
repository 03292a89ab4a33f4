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
};

// Calls until at least kWarmUpCalls are made, `least` has passed and the clocks are steady, at most
// kMaxWarmUpTime.
WarmDevice WarmUpDevice(DeviceCalls& calls, CallDealer& dealer, absl::Duration least,
                        ClockWatch& watch, const Clock& clock);

// How many calls a chain has at most: long enough that a replay is well above what varies from one
// to the next, if there are sets enough.
int MostCallsOfChain(int sets, double call_us);
// The sets of one chain, or of one batch: three quarters to all of `most`, at random, in random
// order. Some sets are always left out, as decoys. Never the same twice, since a program would
// learn what comes last.
std::vector<int> OrderOfChain(CallDealer& dealer, int most);

// Calls on all sets, recorded, and a chain of `most` of them tried.
struct RecordedCalls {
  Ending ending;
  bool recorded = false;
  std::string reason;  // why they are not
  // An honest program may not survive a recording that failed: it needs a new process.
  bool spoiled = false;
};
RecordedCalls RecordCalls(DeviceCalls& calls, CallDealer& dealer, int most);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_
