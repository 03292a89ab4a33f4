#include "gpu_worker/verifier/timing/device/device_warm_up.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

bool WarmDevice::host_bound() const { return host_us > kHostBound * call_us; }

WarmDevice WarmUpDevice(DeviceCalls& calls, CallDealer& dealer, absl::Duration least,
                        ClockWatch& watch, const Clock& clock) {
  WarmDevice warm;
  const absl::Time start = clock.SteadyNow();
  std::vector<double> latency_us, host_us;
  // Starts with one call, because the batch length is not known yet.
  int count = 1;
  bool steady = false, first_dropped = false;
  while (true) {
    const WorkloadSession::Batch batch = calls.Run(
        dealer.Deal(count, 0), WorkloadSession::Mode::kTimed, {v1::BatchRequest::EVENTS, 0});
    if (!batch.ending.passed()) {
      warm.ending = batch.ending;
      return warm;
    }
    latency_us.insert(latency_us.end(), batch.latency_us.begin(), batch.latency_us.end());
    host_us.insert(host_us.end(), batch.host_us.begin(), batch.host_us.end());
    // The first call of a process loads code, so it counts only until there is another.
    if (!first_dropped && latency_us.size() > 1) {
      first_dropped = true;
      latency_us.erase(latency_us.begin());
      if (!host_us.empty()) host_us.erase(host_us.begin());
    }
    warm.call_us = Median(latency_us);
    warm.host_us = Median(host_us);
    count = static_cast<int>(std::clamp(
        absl::ToDoubleMicroseconds(kWarmUpTime) / 4 / std::max(warm.call_us, 1e-3), 1.0, 64.0));
    const absl::Duration passed = clock.SteadyNow() - start;
    steady = watch.Steady() || steady;
    const bool enough =
        static_cast<int>(latency_us.size()) >= kWarmUpCalls && passed >= least && steady;
    if (enough || passed >= kMaxWarmUpTime) return warm;
  }
}

int MostCallsOfChain(int sets, double call_us) {
  const double calls = std::ceil(kChainMicros / std::max(call_us, 0.1));
  return static_cast<int>(std::clamp<double>(calls, 1, sets));
}

std::vector<int> OrderOfChain(CallDealer& dealer, int most) {
  most = std::clamp(most, 1, dealer.most_calls());
  const int least = (3 * most + 3) / 4;
  return dealer.PickSets(
      least + static_cast<int>(dealer.rng().NextBelow(static_cast<uint64_t>(most - least + 1))));
}

RecordedCalls RecordCalls(DeviceCalls& calls, CallDealer& dealer, int most) {
  RecordedCalls recorded;
  WorkloadSession::Recording recording = calls.Record(dealer.PickSets(dealer.sets()), 0);
  recorded.ending = recording.ending;
  if (!recorded.ending.passed()) return recorded;
  recorded.reason = recording.reason;
  if (recorded.reason.empty()) {
    // A recording may lack work on another stream or on the host.
    const WorkloadSession::Batch trial =
        calls.Run(dealer.DealTo(OrderOfChain(dealer, most), 0), WorkloadSession::Mode::kGate,
                  {v1::BatchRequest::REPLAY, 0});
    if (trial.ending.outcome == v1::OUTCOME_INCORRECT) {
      recorded.reason = "replayed calls are not complete: " + trial.ending.message;
    } else if (!trial.ending.passed()) {
      recorded.ending = trial.ending;
      return recorded;
    }
  }
  recorded.recorded = recorded.reason.empty();
  if (recorded.recorded) return recorded;
  const WorkloadSession::Batch after =
      calls.Run(dealer.Deal(1, 0), WorkloadSession::Mode::kGate, {v1::BatchRequest::SYNCED, 0});
  recorded.spoiled = !after.ending.passed();
  return recorded;
}

}  // namespace ksearch
