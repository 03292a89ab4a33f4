#include "gpu_worker/verifier/timing/device/device_warm_up.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

bool WarmDevice::host_bound() const { return host_us > kHostBound * call_us; }

bool WarmDevice::wants_graph() const { return call_us < kShortCallMicros || host_bound(); }

WarmDevice WarmUpDevice(DeviceCalls& calls, CallDealer& dealer, absl::Duration least,
                        ClockWatch& watch, const Clock& clock) {
  WarmDevice warm;
  const absl::Time start = clock.SteadyNow();
  std::vector<double> latency_us, host_us;
  // One call first: how long a GO may be is not known yet.
  int count = 1;
  bool steady = false, first_dropped = false;
  while (true) {
    const WorkloadSession::Batch batch =
        calls.Run(dealer.Deal(count, 0), WorkloadSession::Mode::kTimed, {v1::GoRequest::EVENTS, 0});
    if (!batch.ending.passed()) {
      warm.ending = batch.ending;
      return warm;
    }
    latency_us.insert(latency_us.end(), batch.latency_us.begin(), batch.latency_us.end());
    host_us.insert(host_us.end(), batch.host_us.begin(), batch.host_us.end());
    // The first call of a process loads code: it only serves until there is another.
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

std::vector<std::vector<int>> OrdersOfGraphs(CallDealer& dealer, double call_us, int count,
                                             int exactly) {
  std::vector<std::vector<int>> orders;
  const int sets = dealer.sets();
  const int least = std::clamp(static_cast<int>(std::ceil(kGraphMicros / std::max(call_us, 0.1))),
                               std::min(kMinGraphCalls, sets), sets);
  for (int graph = 0; graph < count; ++graph) {
    const int calls_in_it = exactly > 0 ? std::min(exactly, sets)
                                        : least + static_cast<int>(dealer.rng().NextBelow(
                                                      static_cast<uint64_t>(sets - least + 1)));
    orders.push_back(dealer.PickSets(calls_in_it));
  }
  return orders;
}

DeviceGraphs RecordGraphs(DeviceCalls& calls, CallDealer& dealer,
                          const std::vector<std::vector<int>>& orders) {
  DeviceGraphs graphs;
  for (size_t i = 0; i < orders.size(); ++i) {
    const std::vector<int>& order = orders[i];
    const auto graph = static_cast<int>(i);
    WorkloadSession::Recording recording = calls.Record(order, graph);
    graphs.ending = recording.ending;
    if (!graphs.ending.passed()) return graphs;
    graphs.reason = recording.reason;
    if (graphs.reason.empty()) {
      // A recording may lack what runs elsewhere: work on another stream, or on the host.
      const WorkloadSession::Batch trial = calls.Run(
          dealer.DealTo(order, 0), WorkloadSession::Mode::kGate, {v1::GoRequest::REPLAY, graph});
      if (trial.ending.outcome == v1::OUTCOME_INCORRECT) {
        graphs.reason = "replayed calls are not complete: " + trial.ending.message;
      } else if (!trial.ending.passed()) {
        graphs.ending = trial.ending;
        return graphs;
      }
    }
    if (!graphs.reason.empty()) {
      graphs.sets.clear();
      const WorkloadSession::Batch after =
          calls.Run(dealer.Deal(1, 0), WorkloadSession::Mode::kGate, {v1::GoRequest::SYNCED, 0});
      graphs.spoiled = !after.ending.passed();
      return graphs;
    }
    graphs.sets.push_back(order);
  }
  return graphs;
}

}  // namespace ksearch
