#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_BLOCK_TIMER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_BLOCK_TIMER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"
#include "proto/job.pb.h"

namespace ksearch {

// How blocks of calls of two programs are made and timed side by side. A confirmation says when
// which side's turn is, and judges; a BlockTimer knows the class of device. One per confirmation.
// For each launch: BeginLaunch; then for each workload OpenSide of both sides, once more if
// WantsMoreSets says so, Choose, RunPair as often as it is wanted, ExtraMicrosACall; then
// EndLaunch. Thread-compatible.
class BlockTimer {
 public:
  // One block of each side.
  struct Pair {
    SideEnding ended;
    // False: the machine was not fit for measuring meanwhile; the pair is to be made again.
    bool counts = true;
    // Time per call by the verifier's clock alone.
    double rival_us = 0;
    double candidate_us = 0;
    // ln(rival / candidate) by the runners' own clocks, where these are the more exact ones.
    std::optional<double> log_ratio_by_runners;
  };

  virtual ~BlockTimer() = default;

  // How many buffer sets each side rotates, as far as is known before either is called.
  virtual int Sets(const WorkloadCase& workload) const = 0;
  // Whether both sides use the same memory, one after the other: a side that leaves work running
  // there can make the other one fail.
  virtual bool SharesMemory() const = 0;

  // Before either runner of a launch is there. Non-OK is trouble of this machine.
  virtual absl::Status BeginLaunch(int launch) = 0;
  // Warms up a side whose workload is mapped; sets its call_us.
  virtual Ending OpenSide(ConfirmationSide* side, const ConfirmationCase& one) = 0;
  // Once both sides are open: whether they are to be opened again because, at their pace, Sets says
  // more from now on, in this launch and those to come.
  virtual bool WantsMoreSets(const ConfirmationCase& one, const ConfirmationSide& rival,
                             const ConfirmationSide& candidate) = 0;
  // How calls are made from now on, the same way on both sides. *start_again: a try at it broke a
  // program, so both need new processes, in which it is not tried again.
  virtual SideEnding Choose(const ConfirmationCase& one, ConfirmationSide* rival,
                            ConfirmationSide* candidate, bool* start_again) = 0;
  // Whose block comes first in a pair. Turns change from launch to launch and from workload to
  // workload; over them each side is first equally often, so that a drift hits both alike.
  virtual bool RivalFirst(int turn, int pair) const = 0;
  // The round trip of an idle runner, as between the sides' batches. Non-OK is trouble of this
  // machine.
  virtual absl::StatusOr<absl::Duration> RoundTrip() = 0;
  // A block of `first`, then one of `second`, the last but `pairs_left - 1` of this workload.
  // Non-OK is trouble of this machine.
  virtual absl::StatusOr<Pair> RunPair(const ConfirmationCase& one, ConfirmationSide* first,
                                       ConfirmationSide* second, int pairs_left) = 0;
  // In how many of a workload's launches some inputs come late (late_batch.h), drawn at random.
  virtual double LateInputShare() const = 0;
  // What a call of the candidate took beyond what its blocks show, in this workload's pairs.
  virtual double ExtraMicrosACall() = 0;
  // What is worth logging of this workload's pairs, as key=value words.
  virtual std::string Summary() const = 0;
  // Empty, or how the candidate disturbed the machine in this launch between its calls.
  virtual std::string EndLaunch() = 0;

  // Some batches of an open side while no other program is loaded.
  virtual Ending RunAlone(ConfirmationSide* side, const ConfirmationCase& one) = 0;
};

// For the bench's class of device.
std::unique_ptr<BlockTimer> MakeBlockTimer(Bench& bench, const v1::MeasurePlan& plan,
                                           const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_BLOCK_TIMER_H_
