#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_

#include <string>
#include <vector>

#include "common/clock.h"
#include "gpu_worker/verifier/timing/device/clock_watch.h"
#include "gpu_worker/verifier/timing/device/device_calls.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {

// The results of a warm-up.
struct WarmDevice {
  Ending ending;
  double call_us = 0;  // median, by events
  double host_us = 0;  // median time of the host within a call
  // Returns true if the host takes so much longer than the device that it determines a call's time.
  bool host_bound() const;
};

// Makes calls until there were at least kWarmUpCalls, `least` has passed and the clocks are steady,
// but for at most kMaxWarmUpTime.
WarmDevice WarmUpDevice(DeviceCalls& calls, CallDealer& dealer, absl::Duration least,
                        ClockWatch& watch, const Clock& clock);

// The most calls of a chain. If there are enough sets, a replay is then much longer than the
// variation between replays.
int MostCallsOfChain(int sets, double call_us);
// The sets of one chain, or of one batch: three quarters to all of `most`, at random, in random
// order. Some sets are always left out, as decoys. The order changes each time, because a program
// could otherwise learn which call comes last.
std::vector<int> OrderOfChain(CallDealer& dealer, int most);

// The result of recording calls on all sets and trying a chain of `most` of them.
struct RecordedCalls {
  Ending ending;
  bool recorded = false;
  std::string reason;  // why they are not recorded
  // The recording failed and may have broken even an honest program: it needs a new process.
  bool spoiled = false;
};
RecordedCalls RecordCalls(DeviceCalls& calls, CallDealer& dealer, int most);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_WARM_UP_H_
