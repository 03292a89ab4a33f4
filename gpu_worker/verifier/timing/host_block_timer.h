#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_HOST_BLOCK_TIMER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_HOST_BLOCK_TIMER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/alone_calls.h"
#include "gpu_worker/verifier/timing/block_timer.h"
#include "gpu_worker/verifier/timing/in_turn_times.h"
#include "gpu_worker/verifier/timing/side_times.h"

namespace ksearch {

// The block timer for CPUs: during its block, a side has all cores, and each side has its own
// buffers.
class HostBlockTimer final : public BlockTimer {
 public:
  HostBlockTimer(Bench& bench, const v1::MeasurePlan& plan, const WorkloadSession::Limits& limits)
      : bench_(bench), plan_(plan), limits_(limits) {}

  int Sets(const WorkloadCase& workload) const override;
  bool SharesMemory() const override { return false; }
  absl::Status BeginLaunch(int launch) override;
  // A B A B A B in one turn, B A B A B A in the next: every block follows one of the other side.
  // Two blocks of one side in a row would make the second one several percent faster, because the
  // process would find its memory and its address translations still in the core's caches
  // (docs/internals/benchmarks.md).
  bool RivalFirst(int turn, int pair) const override;
  Ending OpenSide(ConfirmationSide* side, const ConfirmationCase& one) override;
  SideEnding Choose(const ConfirmationCase& one, ConfirmationSide* rival,
                    ConfirmationSide* candidate, bool* start_again) override;
  absl::StatusOr<absl::Duration> RoundTrip() override;
  absl::StatusOr<Pair> RunPair(const ConfirmationCase& one, ConfirmationSide* first,
                               ConfirmationSide* second, int pairs_left) override;
  double LateInputShare() const override { return kHostLateInputShare; }
  double ExtraMicrosACall() override;
  bool WantsMoreSets(const ConfirmationCase&, const ConfirmationSide&,
                     const ConfirmationSide&) override {
    return false;
  }
  std::string Summary() const override;
  std::string EndLaunch() override { return ""; }
  Ending RunAlone(ConfirmationSide* side, const ConfirmationCase& one) override;

 private:
  // How many calls each batch of a pair of blocks gets if the slower side takes `call_us` for one.
  int CallsPerBatch(double call_us, Rng* rng) const;
  // Runs batches of `calls` calls each until they fill a block. *us_per_call is by the verifier's
  // clock.
  Ending RunBlock(ConfirmationSide* side, const ConfirmationCase& one, int calls, int blocks_left,
                  double* us_per_call);
  // Makes calls of both sides apart from each other, in turn or alone, and adds to *extra_us_ how
  // much longer the candidate's took than in a batch; several times, as long as they do.
  SideEnding RunCallsApart(ConfirmationSide* first, ConfirmationSide* second,
                           const ConfirmationCase& one, int calls);
  // How much longer the candidate's calls apart took than its median call in a batch, beyond what
  // the rival's took longer than `rival_us`, its call in a batch; 0 if that is little.
  double LongerApart(double rival_us) const;
  // The same with the rival's fastest block; 0 unless it is so much that it cannot be chance.
  double ClearlyLongerApart() const;
  // Makes calls of both sides in turn (WorkloadSession::RunInTurn): a program that works ahead, in
  // one call of a batch, gains nothing there. Leaves in_turn_ empty where that cannot be done.
  SideEnding RunCallsInTurn(ConfirmationSide* first, ConfirmationSide* second,
                            const ConfirmationCase& one, int calls);
  // The same with calls alone, each a batch of its own: for longer calls, and for programs that may
  // need every core.
  SideEnding RunCallsAlone(ConfirmationSide* first, ConfirmationSide* second,
                           const ConfirmationCase& one, int calls);
  Bench& bench_;
  const v1::MeasurePlan plan_;
  const WorkloadSession::Limits limits_;

  int launch_ = 0;
  // Of the current launch and workload: calls apart, of which one kind is empty.
  InTurnTimes in_turn_;
  AloneCalls alone_{kHostAloneShare, kHostAloneMicros};
  // Over both sides' blocks: the time of their batches, and the processor time of the runners'
  // other threads.
  absl::Duration batches_took_;
  absl::Duration other_threads_;
  SideTimes in_batch_;  // a call in a batch, of each block
  // LongerApart in each launch so far: for the current workload, and for all by their keys.
  std::vector<double>* extra_us_ = nullptr;
  std::map<std::string, std::vector<double>> all_extra_us_;
  // How many batches the last block of each workload, by its key, had.
  std::map<std::string, int> batches_of_block_;
  // LongerApart and ClearlyLongerApart of the current launch and workload.
  std::optional<double> latest_extra_us_;
  double clearly_longer_us_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_HOST_BLOCK_TIMER_H_
