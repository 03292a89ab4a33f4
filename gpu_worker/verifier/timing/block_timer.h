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

// Makes and times blocks of calls of two programs, in turn. A confirmation decides whose turn it is
// and judges; a BlockTimer knows the class of device. There is one per confirmation. For each
// launch, call BeginLaunch; then for each workload OpenSide for both sides (again if WantsMoreSets
// says so), Choose, RunPair any number of times, and ExtraMicrosACall; then EndLaunch.
// Thread-compatible.
class BlockTimer {
 public:
  // One block of each side.
  struct Pair {
    SideEnding ended;
    // False if the machine was not fit for measuring during the pair, which must then be repeated.
    bool counts = true;
    // Time per call by the verifier's clock alone.
    double rival_us = 0;
    double candidate_us = 0;
    // ln(rival / candidate) by the runners' own clocks, if those are more precise.
    std::optional<double> log_ratio_by_runners;
  };

  virtual ~BlockTimer() = default;

  // How many buffer sets each side rotates, as estimated before either side is called.
  virtual int Sets(const WorkloadCase& workload) const = 0;
  // Returns true if both sides use the same memory, one after the other: a side that leaves work
  // running there can make the other one fail.
  virtual bool SharesMemory() const = 0;

  // To be called before either runner of a launch is started. Non-OK is an error of this machine.
  virtual absl::Status BeginLaunch(int launch) = 0;
  // Warms up a side whose workload is mapped; sets its call_us.
  virtual Ending OpenSide(ConfirmationSide* side, const ConfirmationCase& one) = 0;
  // To be called once both sides are open: whether they must be opened again because their pace
  // requires more sets. Sets returns the higher number from then on, also in later launches.
  virtual bool WantsMoreSets(const ConfirmationCase& one, const ConfirmationSide& rival,
                             const ConfirmationSide& candidate) = 0;
  // Chooses how calls are made from now on, in the same way on both sides. *start_again: trying a
  // way broke a program, so both sides need new processes, in which it will not be tried again.
  virtual SideEnding Choose(const ConfirmationCase& one, ConfirmationSide* rival,
                            ConfirmationSide* candidate, bool* start_again) = 0;
  // Returns true if the rival's block comes first in a pair. `turn` changes from launch to launch
  // and from workload to workload; over all turns each side is first equally often, so that drift
  // affects both alike.
  virtual bool RivalFirst(int turn, int pair) const = 0;
  // The round trip of an idle runner, as between the sides' batches. Non-OK is an error of this
  // machine.
  virtual absl::StatusOr<absl::Duration> RoundTrip() = 0;
  // Runs a block of `first`, then one of `second`. `pairs_left`: the number of pairs of this
  // workload that are left, including this one. Non-OK is an error of this machine.
  virtual absl::StatusOr<Pair> RunPair(const ConfirmationCase& one, ConfirmationSide* first,
                                       ConfirmationSide* second, int pairs_left) = 0;
  // The share of a workload's launches, chosen at random, in which some inputs come late
  // (late_batch.h).
  virtual double LateInputShare() const = 0;
  // The time that a call of the candidate took in addition to what its blocks show, in this
  // workload's pairs.
  virtual double ExtraMicrosACall() = 0;
  // A summary of this workload's pairs for the log, as key=value words.
  virtual std::string Summary() const = 0;
  // How the candidate disturbed the machine between its calls in this launch; empty if it did not.
  virtual std::string EndLaunch() = 0;

  // Runs some batches of an open side while no other program is loaded.
  virtual Ending RunAlone(ConfirmationSide* side, const ConfirmationCase& one) = 0;
};

// Makes the timer for the bench's class of device.
std::unique_ptr<BlockTimer> MakeBlockTimer(Bench& bench, const v1::MeasurePlan& plan,
                                           const WorkloadSession::Limits& limits);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_BLOCK_TIMER_H_
