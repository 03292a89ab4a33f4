#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/bench.h"
#include "gpu_worker/verifier/timing/statistics.h"
#include "gpu_worker/verifier/workload_session.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// What a confirmation measures on: fresh inputs that no screening used.
struct ConfirmationCase {
  std::shared_ptr<const WorkloadCase> workload;
  OracleEntries oracles;
  double floor_us = 0;  // no call can be faster; 0: unknown
};

// How many buffer sets each side rotates.
int ConfirmationSets(const Bench& bench, const WorkloadCase& workload);

// What came of timing a candidate against one rival.
struct ConfirmationResult {
  // Of the candidate; not PASSED: the comparison is void.
  Ending ending;
  size_t failed_case = 0;  // where
  v1::Comparison comparison;
  // Per case: the candidate's time per call of each block by the verifier's clock, and its audit.
  std::vector<std::vector<double>> candidate_us;
  std::vector<std::vector<double>> rival_us;
  std::vector<double> audit_ratio;
  std::vector<int> escaped_launches;  // in how many the audit failed
  // Timed calls whose outputs look like another call's, by case.
  std::vector<std::pair<size_t, WorkloadSession::Suspect>> suspects;
};

// Times candidate and rival side by side (docs/measuring.md): plan.launches times two fresh
// runner processes, both resident, one active, and on a GPU as many again while the verdict is
// "undecided", at most kMaxLooks times; per workload plan.blocks_per_launch pairs of blocks
// in ABBA order, a block lasting at least plan.min_block_time. Times are the verifier's own clock
// alone, so a forged inner clock gains nothing. Log ratios of adjacent blocks go through a
// hierarchical bootstrap. A candidate whose own clock misses time in every launch is CHEAT.
class Confirmation {
 public:
  Confirmation(Bench& bench, const v1::MeasurePlan& plan, const v1::Limits& candidate_limits,
               WorkloadSession::Limits limits)
      : bench_(bench), plan_(plan), candidate_limits_(candidate_limits), limits_(limits) {}

  // Non-OK is trouble of this machine or a failing rival. `progress` is told launches done.
  absl::StatusOr<ConfirmationResult> Compare(const ProgramImage& candidate,
                                             const ProgramImage& rival,
                                             const std::vector<ConfirmationCase>& cases,
                                             const std::function<void(int)>& progress);

 private:
  struct Side;
  // *ending: of loading the program.
  absl::StatusOr<std::unique_ptr<Side>> StartSide(const ProgramImage& program, bool is_candidate,
                                                  Ending* ending);
  Ending Open(Side* side, const ConfirmationCase& one, absl::Status* trouble);
  int CallsOfGo(const ConfirmationCase& one, const Side& a, const Side& b) const;
  // GPU: whether both sides replay graphs. *failed: whose ending it is.
  Ending ChooseWay(const ConfirmationCase& one, Side* a, Side* b, Side** failed);
  Ending LockStep(Side* side, const ConfirmationCase& one);
  // One block, the last but `blocks_left`; *us_per_call by the verifier's clock.
  Ending RunBlock(Side* side, const ConfirmationCase& one, int blocks_left, double* us_per_call);
  // Of an idle runner. GPU: remembered among those of this launch.
  absl::StatusOr<absl::Duration> RoundTrip();
  // GPU: what one GO is to be of, the same for both sides.
  struct Turn {
    size_t graph = 0;
    std::vector<int> sets;
  };
  static Turn PickTurn(const Side& side);
  WorkloadSession::Batch RunTurn(Side* side, const ConfirmationCase& one, const Turn& turn,
                                 int oracled);
  // GPU: a block of each side, as Side::go_us.
  Ending RunDeviceBlocks(Side* first, Side* second, const ConfirmationCase& one, int blocks_left,
                         Side** failed);
  // Time over the usual in its lead-in voids a GO, or is charged to the candidate if that happens
  // often.
  Ending RunDeviceGo(Side* side, const ConfirmationCase& one, const Turn& turn, bool oracled);
  // What to make of one side's `ending` in cases[i] of this launch: trouble, or *result, or both
  // untouched if the launch is to be made again.
  absl::Status TakeFailure(bool of_candidate, Ending ending, const ProgramImage& rival,
                           const std::vector<ConfirmationCase>& cases, size_t i,
                           ConfirmationResult* result);
  // GPU: how calls of a program end while no other is loaded.
  absl::StatusOr<Ending> RunAlone(const ProgramImage& program, const ConfirmationCase& one);
  struct Judgement {
    BootstrapResult bootstrap;
    v1::Comparison::Verdict verdict = v1::Comparison::UNDECIDED;
  };
  Judgement Judge(const std::vector<LaunchBlocks>& log_ratios, double confidence) const;
  absl::Status RunLaunch(int launch, const ProgramImage& candidate, const ProgramImage& rival,
                         const std::vector<ConfirmationCase>& cases,
                         std::vector<LaunchBlocks>* log_ratios, ConfirmationResult* result);

  Bench& bench_;
  const v1::MeasurePlan plan_;
  const v1::Limits candidate_limits_;
  const WorkloadSession::Limits limits_;
  // GPU: of an idle runner, before either side of this launch was there, and between their GOs.
  IdlePaces alone_;
  IdlePaces between_;
  // In so many launches the candidate kept the device; so often the rival failed beside it alone.
  int busy_launches_ = 0;
  int interferences_ = 0;
  // GPU, by case, as log_ratios of RunLaunch: by the runner's events.
  std::vector<LaunchBlocks> event_log_ratios_;
  // False once a recording broke a program.
  bool graphs_allowed_ = true;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_
