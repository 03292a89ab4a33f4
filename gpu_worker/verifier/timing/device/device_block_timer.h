#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_BLOCK_TIMER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_BLOCK_TIMER_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gpu_worker/verifier/timing/alone_calls.h"
#include "gpu_worker/verifier/timing/block_timer.h"
#include "gpu_worker/verifier/timing/device/clock_watch.h"
#include "gpu_worker/verifier/timing/device/deferred_work.h"
#include "gpu_worker/verifier/timing/device/device_warm_up.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"
#include "gpu_worker/verifier/timing/side_times.h"

namespace ksearch {

// The block timer for GPUs. The sides alternate from batch to batch, because the cost of a context
// switch drifts, and they use the same buffers, because physical addresses alone make a difference.
// Batches are replays of chains if the calls of both sides can be recorded, else single calls.
class DeviceBlockTimer final : public BlockTimer {
 public:
  // `bench` must have a GPU.
  DeviceBlockTimer(Bench& bench, const v1::MeasurePlan& plan, const WorkloadSession::Limits& limits)
      : bench_(bench), plan_(plan), limits_(limits) {}

  int Sets(const WorkloadCase& workload) const override;
  bool SharesMemory() const override { return true; }
  absl::Status BeginLaunch(int launch) override;
  // A B, B A, A B, ...
  bool RivalFirst(int turn, int pair) const override { return (turn + pair) % 2 == 0; }
  Ending OpenSide(ConfirmationSide* side, const ConfirmationCase& one) override;
  bool WantsMoreSets(const ConfirmationCase& one, const ConfirmationSide& rival,
                     const ConfirmationSide& candidate) override;
  SideEnding Choose(const ConfirmationCase& one, ConfirmationSide* rival,
                    ConfirmationSide* candidate, bool* start_again) override;
  absl::StatusOr<absl::Duration> RoundTrip() override;
  absl::StatusOr<Pair> RunPair(const ConfirmationCase& one, ConfirmationSide* first,
                               ConfirmationSide* second, int pairs_left) override;
  double LateInputShare() const override { return 1; }
  double ExtraMicrosACall() override;
  std::string Summary() const override;
  std::string EndLaunch() override;
  Ending RunAlone(ConfirmationSide* side, const ConfirmationCase& one) override;

 private:
  // A side's current block.
  struct Block {
    // For each batch that counts: time per call by the verifier's clock and by the runner's events,
    // and how long the check of its outputs took.
    std::vector<double> batch_us;
    std::vector<double> event_us;
    std::vector<absl::Duration> output_checks;
    double spent_us = 0;
    int voided = 0;         // batches that do not count
    int oracle_batch = -1;  // which batch has an oracle among its calls
  };
  struct SideState {
    WarmDevice warm;
    Block block;
    int voided = 0;        // batches that do not count, on this workload
    int voided_alone = 0;  // the same of calls alone
  };

  SideState& StateOf(const ConfirmationSide& side) { return states_[side.is_candidate ? 1 : 0]; }
  // How many calls a batch of the intended length has, not rounded.
  static double UsualCallsOfBatch(const ConfirmationSide& rival, const ConfirmationSide& candidate);
  // The most sets for a workload. A batch has many short calls, and each needs its own set.
  int MostSets(const WorkloadCase& workload) const;
  // The number of calls per batch, the same for both sides, so that a batch's overhead is divided
  // by the same number.
  int CallsOfBatch(const ConfirmationCase& one, const ConfirmationSide& rival,
                   const ConfirmationSide& candidate) const;
  SideEnding Record(const ConfirmationCase& one, ConfirmationSide* rival,
                    ConfirmationSide* candidate, bool* start_again);
  // Makes calls alone: one at a time, each checked before the next is prepared, so that work done
  // ahead or deferred to a later call is missing. Adds their times to alone_calls_ and
  // alone_audits_.
  SideEnding RunCallsAlone(const ConfirmationCase& one, ConfirmationSide* rival,
                           ConfirmationSide* candidate);
  AloneCalls NewAloneAudits() const;
  // How much longer the candidate's calls take alone by the verifier's clock, beyond the rival's.
  double AloneByVerifier() const;
  bool SparesOracle(ConfirmationSide* side) const;
  // How much longer a batch's lead-in took than allowed.
  double LeadInExcess(const WorkloadSession::Batch& batch) const;
  void BeginBlock(ConfirmationSide* side, int blocks_left);
  bool WantsMore(const Block& block) const;
  // Returns true if both clocks show the sides of a block to differ so much that more batches would
  // add nothing.
  static bool IsClear(const Block& a, const Block& b);
  // How calls are made, as Choose decided.
  WorkloadSession::BatchForm Form() const;
  // The sets of one batch, in the order of its calls; the same for both sides.
  std::vector<int> PickSets(const ConfirmationSide& side) const;
  // Runs a batch on these sets. `oracled`: how many of its calls have an oracle.
  WorkloadSession::Batch RunOn(const std::vector<int>& sets, ConfirmationSide* side,
                               const ConfirmationCase& one, int oracled);
  // The same, and adds the batch to the side's block. If its lead-in takes longer than usual, a
  // batch is void; if that happens often, the excess is charged to the candidate.
  Ending RunBatch(const std::vector<int>& sets, ConfirmationSide* side, const ConfirmationCase& one,
                  bool oracled);
  // Times a small copy, to see whether the candidate's go on.
  absl::Status AddCopy();

  Bench& bench_;
  const v1::MeasurePlan plan_;
  const WorkloadSession::Limits limits_;

  // By workload, if its calls are so short that it is worth mapping more sets than the cache
  // requires.
  absl::flat_hash_map<std::string, int> more_sets_;

  // False once a recording broke a program.
  bool graphs_allowed_ = true;
  // Workloads, by key, on which some call of either side could not be recorded in some launch:
  // later launches do not try to, so that all measure the same.
  absl::flat_hash_set<std::string> unrecorded_;
  int launch_ = 0;
  // Paces of an idle runner and copies, from before either side of this launch was loaded, and
  // between their batches; copies before and after each batch of the rival.
  IdlePaces idle_before_;
  IdlePaces idle_between_;

  // For the current workload.
  std::array<SideState, 2> states_;  // rival, candidate
  int calls_of_batch_ = 1;
  bool recorded_ = false;  // calls are replayed, else made one by one
  std::optional<ClockWatch> watch_;
  DeferredWork deferred_work_;
  // Calls alone by the runners' clocks, which resolve a short call, and by the verifier's, which no
  // program can forge.
  AloneCalls alone_calls_{kAloneShare, kAloneMicros};
  AloneCalls alone_audits_{kAloneShare, kAloneAuditMicros};
  double alone_extra_us_ = 0;  // AloneByVerifier, the least of several measurements
  // Time per call in batches, by block: by the verifier's clock, and by the runners' clocks.
  SideTimes by_verifier_;
  SideTimes by_runners_;
  int turns_ = 0;             // batches of each side
  int late_inputs_seen_ = 0;  // of the candidate
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_BLOCK_TIMER_H_
