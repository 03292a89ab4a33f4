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
  // The candidate's ending. If it is not PASSED, the comparison is void. TASK_ERROR: the rival
  // failed next to the candidate more than once, but not alone.
  Ending ending;
  size_t failed_case = 0;  // where
  v1::Comparison comparison;
  // Per case: the candidate's time per call of each block by the verifier's clock, and its audit.
  std::vector<std::vector<double>> candidate_us;
  std::vector<std::vector<double>> rival_us;
  std::vector<double> audit_ratio;
  std::vector<int> escaped_launches;  // the number of launches in which the audit failed
  // Timed calls whose outputs look like another call's, by case.
  std::vector<std::pair<size_t, WorkloadSession::Suspect>> suspects;
};

// Times candidate and rival side by side (docs/measuring.md): at most plan.launches times two fresh
// runner processes, both resident, one active, until a look at the results settles the verdict
// (InterimLooks); per workload plan.blocks_per_launch pairs of blocks (BlockTimer::RivalFirst), a
// block lasting at least plan.min_block_time. A launch begins with the workloads that have the
// worst results so far (DecidingFirst), and the last launch before a look ends early once a
// workload settles the verdict (DecidesAlone). Times come from the verifier's own clock alone, so a
// forged inner clock gains nothing. Bounds are those of EstimateSpeedup; all looks together have
// the level plan.confidence. A candidate whose own clock misses time in every launch is CHEAT.
class Confirmation {
 public:
  // `objective` says which cases are ranked and which are only guards.
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

  // Non-OK is an error of this machine, or a TaskFault (common/task_fault.h) if the rival also
  // fails alone. `progress` receives the number of launches done. A rival that was a candidate
  // itself gets the limits that it had then: if it could tell from its limits that it is the rival,
  // it could be slow on purpose.
  absl::StatusOr<ConfirmationResult> Compare(const ProgramImage& candidate,
                                             const ProgramImage& rival, bool rival_was_candidate,
                                             const std::vector<ConfirmationCase>& cases,
                                             const std::function<void(int)>& progress);

 private:
  // The measurements of one comparison, by case.
  struct Measured {
    std::vector<LaunchBlocks> by_verifier;  // log ratios
    std::vector<LaunchBlocks> by_runners;   // the same by the runners' clocks; blocks may be absent
  };
  // The measurements of one launch for one case.
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
    // In the order in which they were timed; incomplete if one of them decided.
    std::vector<CaseBlocks> cases;
    std::string disturbance;  // BlockTimer::EndLaunch
  };
  struct Judgment {
    SpeedupEstimate estimate;
    v1::Comparison::Verdict verdict = v1::Comparison::UNDECIDED;
    const std::vector<LaunchBlocks>* rests_on = nullptr;  // the one of Measured's clocks
    StartOrder start_order = StartOrder::kScatter;
  };

  // Starts a runner, which has opened its device when this returns.
  absl::StatusOr<std::unique_ptr<ConfirmationSide>> StartSide(const ProgramImage& program,
                                                              bool is_candidate);
  // Loads the program. The ending is that of loading.
  absl::StatusOr<Ending> LoadSide(ConfirmationSide* side, const ProgramImage& program);
  // Maps a workload and warms up. `turn` says which buffers belong to which side. `late_inputs`:
  // whether there is an extra batch with late inputs. `hidden`, which may be null: a hidden case
  // for another extra batch.
  absl::StatusOr<Ending> Open(ConfirmationSide* side, const ConfirmationCase& one, int turn,
                              bool late_inputs, const ConfirmationCase::Hidden* hidden);
  // Whether a launch ended because the job's time was over, not a call's.
  bool IsOutOfTime(const Ending& ending) const;
  // Runs a launch, again if necessary, until it is complete and was not disturbed by the candidate,
  // or *result's ending says why it cannot be. With a `confidence`, a single workload may decide
  // the comparison, which ends the launch early.
  absl::Status RunLaunch(int launch, std::optional<double> confidence,
                         const ProgramImage& candidate, const ProgramImage& rival,
                         const std::vector<ConfirmationCase>& cases, Measured* measured,
                         ConfirmationResult* result);
  // One attempt at a launch, through the cases in this order.
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
  // Handles one side's `ending` in cases[i]: returns an error or a TaskFault, or sets *result, or
  // does neither if the launch must be repeated.
  absl::Status TakeFailure(bool of_candidate, Ending ending, const ProgramImage& rival,
                           const std::vector<ConfirmationCase>& cases, size_t i,
                           ConfirmationResult* result);
  // Runs calls of a program while no other is loaded, and returns how they ended.
  absl::StatusOr<Ending> RunAlone(const ProgramImage& program, const ConfirmationCase& one);
  Judgment Judge(const Measured& measured, const GuardFactors& guards, double confidence) const;
  // Judges by the medians and the audit of all launches.
  Ending JudgeCandidate(const std::vector<ConfirmationCase>& cases, const Measured& measured,
                        ConfirmationResult* result) const;

  Bench& bench_;
  const v1::MeasurePlan plan_;
  const v1::Objective objective_;
  const v1::Limits candidate_limits_;
  v1::Limits rival_limits_;  // of the current comparison
  const WorkloadSession::Limits limits_;
  const std::unique_ptr<BlockTimer> timer_;
  // The number of launches in which the candidate disturbed the machine, and how often the rival
  // failed only next to it.
  int disturbed_launches_ = 0;
  int interferences_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_CONFIRMATION_H_
