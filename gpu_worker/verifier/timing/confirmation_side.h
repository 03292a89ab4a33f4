#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_SIDE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_SIDE_H_

#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {

// A workload of a confirmation, with fresh inputs that no screening used.
struct ConfirmationCase {
  std::shared_ptr<const WorkloadCase> workload;
  OracleEntries oracles;
  double floor_us = 0;  // no call can be faster; 0: unknown
  // Some of the workload's hidden cases (tensors/hidden_cases.h), with their oracles.
  struct Hidden {
    std::string name;
    std::shared_ptr<const WorkloadCase> workload;
    OracleEntries oracles;
  };
  std::vector<Hidden> hidden;
};

// One of the two runners of a launch, with the workload that it has mapped.
struct ConfirmationSide {
  bool is_candidate = false;
  std::unique_ptr<RunnerLink> link;
  // For the current workload.
  std::unique_ptr<WorkloadSession> session;
  std::unique_ptr<CallDealer> dealer;
  ClockAudit audit;
  double call_us = 0;              // as measured in the warm-up
  bool wants_late_inputs = false;  // on this workload, in this launch
  // On this workload, in this launch: the hidden case of an untimed batch that is still to come;
  // null: none.
  const ConfirmationCase::Hidden* hidden = nullptr;
  // The cost of a batch apart from its calls, the same for both sides: the shortest round trip of
  // an idle runner in this launch.
  absl::Duration least_round_trip = absl::InfiniteDuration();
};

// The two sides of a launch. Both are killed before either is waited for.
class LaunchSides {
 public:
  LaunchSides() = default;
  ~LaunchSides() { End(); }
  LaunchSides(const LaunchSides&) = delete;
  LaunchSides& operator=(const LaunchSides&) = delete;

  std::unique_ptr<ConfirmationSide>& Of(bool candidate) { return sides_[candidate ? 1 : 0]; }

  // Returns when both have ended.
  void End() {
    for (const auto& side : sides_) {
      if (side != nullptr) side->link->Kill();
    }
    for (auto& side : sides_) side.reset();
  }

 private:
  std::unique_ptr<ConfirmationSide> sides_[2];  // rival, candidate
};

// How a call, or a block of calls, of either side ended.
struct SideEnding {
  Ending ending;
  const ConfirmationSide* side = nullptr;  // whose ending it is, if it is not PASSED
  bool passed() const { return ending.passed(); }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_SIDE_H_
