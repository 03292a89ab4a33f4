#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_BLOCK_TIMER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_BLOCK_TIMER_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gpu_worker/verifier/timing/block_timer.h"
#include "gpu_worker/verifier/timing/device/alone_calls.h"
#include "gpu_worker/verifier/timing/device/clock_watch.h"
#include "gpu_worker/verifier/timing/device/deferred_work.h"
#include "gpu_worker/verifier/timing/device/device_warm_up.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"

namespace ksearch {

// On a GPU: the sides take turns from batch to batch, since what a switch of contexts costs drifts,
// and use the same buffers, since physical addresses alone make a difference. Batches are replays
// of chains where the calls of both sides can be recorded, else calls one by one.
class DeviceBlockTimer final : public BlockTimer {
 public:
  // `bench` has a GPU.
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
  // What one batch is to be of, the same for both sides.
  struct Turn {
    std::vector<int> sets;
  };
  // A side's block at work.
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
    int voided = 0;  // batches that do not count, on this workload
  };

  SideState& StateOf(const ConfirmationSide& side) { return states_[side.is_candidate ? 1 : 0]; }
  // Calls of a batch that takes as long as it should, not rounded.
  static double UsualCallsOfBatch(const ConfirmationSide& a, const ConfirmationSide& b);
  // A batch has many short calls, and each needs a set of its own: at most this many.
  int MostSets(const WorkloadCase& workload) const;
  // As many calls a batch on both sides, so that what a batch costs beside them is shared by as
  // many.
  int CallsOfBatch(const ConfirmationCase& one, const ConfirmationSide& a,
                   const ConfirmationSide& b) const;
  SideEnding Record(const ConfirmationCase& one, ConfirmationSide* rival,
                    ConfirmationSide* candidate, bool* start_again);
  // Makes calls one at a time and checks each before the next is prepared, so that work done ahead
  // or deferred to a later call is missing.
  SideEnding LockStep(const ConfirmationCase& one, ConfirmationSide* rival,
                      ConfirmationSide* candidate);
  void BeginBlock(ConfirmationSide* side, int blocks_left);
  bool WantsMore(const Block& block) const;
  // Whether by both clocks the sides of a block differ by so much that more batches would tell
  // nothing.
  static bool IsClear(const Block& a, const Block& b);
  // How calls are made, as Choose found it.
  WorkloadSession::BatchForm Form() const;
  Turn PickTurn(const ConfirmationSide& side) const;
  WorkloadSession::Batch RunTurn(ConfirmationSide* side, const ConfirmationCase& one,
                                 const Turn& turn, int oracled);
  // Time over the usual in its lead-in voids a batch, or is charged to the candidate if that
  // happens often.
  Ending RunBatch(ConfirmationSide* side, const ConfirmationCase& one, const Turn& turn,
                  bool oracled);

  Bench& bench_;
  const v1::MeasurePlan plan_;
  const WorkloadSession::Limits limits_;

  // By workload, where calls are so short that more sets are worth mapping than the cache asks for.
  absl::flat_hash_map<std::string, int> more_sets_;

  // False once a recording broke a program.
  bool graphs_allowed_ = true;
  int launch_ = 0;
  // Paces of an idle runner, before either side of this launch was there, and between their
  // batches.
  IdlePaces alone_;
  IdlePaces between_;

  // For the workload at work.
  std::array<SideState, 2> states_;  // rival, candidate
  int calls_of_batch_ = 1;
  bool recorded_ = false;  // calls are replayed, else made one by one
  std::optional<ClockWatch> watch_;
  DeferredWork deferred_work_;
  AloneCalls alone_calls_;
  // A call, by block: by the verifier's clock, and by the runners'.
  std::vector<double> candidate_us_;
  std::vector<double> rival_event_us_;
  std::vector<double> candidate_event_us_;
  int turns_ = 0;
  int late_inputs_seen_ = 0;  // of the candidate
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_BLOCK_TIMER_H_
