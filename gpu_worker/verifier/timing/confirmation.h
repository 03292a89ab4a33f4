#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "gpu_worker/verifier/timing/block_timer.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"
#include "gpu_worker/verifier/timing/speedup_estimate.h"
#include "gpu_worker/verifier/timing/statistics.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// The result of timing a candidate against one rival.
struct ConfirmationResult {
  // The candidate's ending; not PASSED: the comparison is void. TASK_ERROR: the rival failed beside
  // it more than once, and not alone.
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

// Times candidate and rival side by side (docs/measuring.md): at most plan.launches times two fresh
// runner processes, both resident, one active, until a look at the results settles the verdict
// (InterimLooks); per workload plan.blocks_per_launch pairs of blocks (BlockTimer::RivalFirst), a
// block lasting at least plan.min_block_time. A launch begins with the workloads that come off
// worst (DecidingFirst), and the last one before a look ends with the workload that settles it
// (DecidesAlone). Times are the verifier's own clock alone, so a forged inner clock gains nothing.
// Bounds are those of EstimateSpeedup; all looks together hold plan.confidence. A candidate whose
// own clock misses time in every launch is CHEAT.
class Confirmation {
 public:
  // `objective`: which cases are ranked, and which only guard.
  Confirmation(Bench& bench, const v1::MeasurePlan& plan, const v1::Limits& candidate_limits,
               const WorkloadSession::Limits& limits, const v1::Objective& objective = {})
      : bench_(bench),
        plan_(plan),
        objective_(objective),
        candidate_limits_(candidate_limits),
        limits_(limits),
        timer_(MakeBlockTimer(bench, plan, limits)) {}

  // How many buffer sets each side rotates.
  int Sets(const WorkloadCase& workload) const { return timer_->Sets(workload); }

  // Non-OK is trouble of this machine, or a TaskFault (common/task_fault.h): the rival fails alone,
  // too. `progress` receives the number of launches done. A rival that was a candidate itself needs
  // the limits that it had then: a program that can tell from its limits that it is the rival may
  // be slow.
  absl::StatusOr<ConfirmationResult> Compare(const ProgramImage& candidate,
                                             const ProgramImage& rival, bool rival_was_candidate,
                                             const std::vector<ConfirmationCase>& cases,
                                             const std::function<void(int)>& progress);

 private:
  // What one comparison measured, by case.
  struct Measured {
    std::vector<LaunchBlocks> by_verifier;  // log ratios
    std::vector<LaunchBlocks> by_runners;   // the same by the runners' clocks; blocks may be absent
  };
  // What one launch gave on one case.
  struct CaseBlocks {
    size_t index = 0;  // of the case
    std::vector<double> rival_us;
    std::vector<double> candidate_us;
    std::vector<double> by_runners;
    double audit_ratio = 0;
    bool time_escaped = false;
    std::vector<WorkloadSession::Suspect> suspects;
  };
  struct Launch {
    Ending ending;
    bool ended_by_candidate = false;  // if it is not PASSED
    size_t failed_case = 0;           // where
    bool start_again = false;         // BlockTimer::Choose
    // In the order in which they were timed; not all of them if one decided.
    std::vector<CaseBlocks> cases;
    std::string disturbance;  // BlockTimer::EndLaunch
  };
  struct Judgment {
    SpeedupEstimate estimate;
    v1::Comparison::Verdict verdict = v1::Comparison::UNDECIDED;
    const std::vector<LaunchBlocks>* rests_on = nullptr;  // the one of Measured's clocks
  };

  // *ending: of loading the program.
  absl::StatusOr<std::unique_ptr<ConfirmationSide>> StartSide(const ProgramImage& program,
                                                              bool is_candidate, Ending* ending);
  // Maps a workload and warms up. `turn` says which buffers are whose; `late_inputs` whether one
  // batch more has inputs that come late; `hidden`, which may be null, what one more has instead.
  absl::StatusOr<Ending> Open(ConfirmationSide* side, const ConfirmationCase& one, int turn,
                              bool late_inputs, const ConfirmationCase::Hidden* hidden);
  // Until a launch is over, or it is known why there can be none: *result's ending. With a
  // `confidence` a workload may decide the comparison; then the launch is not whole.
  absl::Status RunLaunch(int launch, std::optional<double> confidence,
                         const ProgramImage& candidate, const ProgramImage& rival,
                         const std::vector<ConfirmationCase>& cases, Measured* measured,
                         ConfirmationResult* result);
  // One try at it, through the cases in this order.
  absl::StatusOr<Launch> TryLaunch(int launch, const ProgramImage& candidate,
                                   const ProgramImage& rival,
                                   const std::vector<ConfirmationCase>& cases,
                                   const std::vector<size_t>& order,
                                   const std::function<bool(const CaseBlocks&)>& decides);
  absl::StatusOr<SideEnding> RunCase(int launch, const ConfirmationCase& one,
                                     ConfirmationSide* rival, ConfirmationSide* candidate,
                                     bool* start_again, CaseBlocks* blocks);
  // ln(rival / candidate) by the verifier's clock, by block.
  static std::vector<double> LogRatios(const CaseBlocks& blocks);
  void Keep(Launch launch, Measured* measured, ConfirmationResult* result);
  // What to make of one side's `ending` in cases[i]: trouble or a TaskFault, or *result, or both
  // untouched if the launch is to be made again.
  absl::Status TakeFailure(bool of_candidate, Ending ending, const ProgramImage& rival,
                           const std::vector<ConfirmationCase>& cases, size_t i,
                           ConfirmationResult* result);
  // How calls of a program end while no other is loaded.
  absl::StatusOr<Ending> RunAlone(const ProgramImage& program, const ConfirmationCase& one);
  Judgment Judge(const Measured& measured, const GuardFactors& guards, double confidence) const;
  // Looks at the medians, the audit and disturbances of all launches.
  Ending JudgeCandidate(const std::vector<ConfirmationCase>& cases, const Measured& measured,
                        ConfirmationResult* result) const;

  Bench& bench_;
  const v1::MeasurePlan plan_;
  const v1::Objective objective_;
  const v1::Limits candidate_limits_;
  v1::Limits rival_limits_;  // of the comparison that is being made
  const WorkloadSession::Limits limits_;
  const std::unique_ptr<BlockTimer> timer_;
  // In so many launches the candidate disturbed the machine, the last time so; so often the rival
  // failed beside it alone.
  int disturbed_launches_ = 0;
  std::string disturbance_;
  int interferences_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_
