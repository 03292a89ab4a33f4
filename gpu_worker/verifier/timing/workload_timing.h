#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_WORKLOAD_TIMING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_WORKLOAD_TIMING_H_

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"
#include "gpu_worker/verifier/timing/sampler.h"
#include "proto/result.pb.h"

namespace ksearch {

// The caller's knowledge about a program that is to be timed. `allow_graphs`, `first_workload`,
// `coarse`, `slow_us` and `alone` are for GPUs only.
struct TimingRole {
  bool trusted = false;  // a baseline: its clock is believed
  bool allow_graphs = true;
  bool first_workload = true;  // of its process
  bool coarse = false;         // only as many calls as are needed for any result
  double slow_us = 0;          // set Sampled::slow beyond this; 0: never
  double floor_us = 0;         // faster is impossible; 0: unknown
  int late_comparisons = 0;    // WorkloadSession::CompareLater, for the calls that count
  IdlePaces alone;             // measured before the program was loaded
};

struct WorkloadTiming {
  Ending ending;
  // candidate, audit_ratio, timing and the facts behind it.
  v1::WorkloadResult facts;
  bool slow = false;
  // Nothing was timed because recording its calls broke the program. It needs a new process,
  // without graphs.
  bool spoiled = false;
};

// Times a session's program in the way of its class of device (docs/measuring.md). Non-OK is an
// error of this machine.
absl::StatusOr<WorkloadTiming> TimeWorkload(Bench& bench, WorkloadSession& session,
                                            CallDealer& dealer, const OracleEntries& oracles,
                                            const v1::MeasurePlan& plan,
                                            const WorkloadSession::Limits& limits,
                                            const TimingRole& role);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_WORKLOAD_TIMING_H_
