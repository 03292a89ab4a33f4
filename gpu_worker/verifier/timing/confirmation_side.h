#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_SIDE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_SIDE_H_

#include <memory>
#include <vector>

#include "gpu_worker/verifier/timing/confirmation.h"
#include "gpu_worker/verifier/timing/device/device_warm_up.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {

// One of the two runners, and what it has mapped.
struct Confirmation::Side {
  bool is_candidate = false;
  int buffers = 0;  // CPU: which of two sets of buffers
  std::unique_ptr<RunnerLink> link;
  std::unique_ptr<WorkloadSession> session;
  std::unique_ptr<CallDealer> dealer;
  ClockAudit audit;
  absl::Duration least_round_trip;
  double call_us = 0;
  // GPU.
  int calls_of_go = 1;
  // Of the block at work: time per call of each GO that counts, their sum, those that did not
  // count.
  std::vector<double> go_us;
  std::vector<double> event_us;            // the same by the runner's events
  std::vector<absl::Duration> look_overs;  // after each
  double spent_us = 0;
  int voided = 0;
  int all_voided = 0;  // on this workload
  int oracle_go = -1;  // which of them has an oracle among its calls
  WarmDevice warm;
  DeviceGraphs graphs;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_SIDE_H_
