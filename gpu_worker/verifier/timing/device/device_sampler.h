#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_SAMPLER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_SAMPLER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "gpu_worker/verifier/timing/device/clock_watch.h"
#include "gpu_worker/verifier/timing/device/device_audit.h"
#include "gpu_worker/verifier/timing/device/device_calls.h"
#include "gpu_worker/verifier/timing/device/device_warm_up.h"
#include "gpu_worker/verifier/timing/sampler.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// Times one program on one workload of a GPU by the protocol of docs/measuring.md. After the
// warm-up it uses one of three methods:
//   graph           if calls can be recorded: replays of chains, each a different one and checked
//                   against the verifier's clock
//   events          if they cannot: each call by itself between two separators; other batches in
//                   between are checked against the verifier's clock
//   verifier_clock  for host-bound calls that cannot be recorded: the verifier's clock alone
// Batches during which the clocks were reduced do not count.
class DeviceSampler {
 public:
  struct Options {
    v1::MeasurePlan plan;
    absl::Duration warm_up;
    // Audited and made in lock-step; trusted programs are not.
    bool trusted = false;
    // One batch of the first measurement is made with late inputs (RunLateBatch).
    bool late_inputs = false;
    bool allow_graphs = true;
    // Make only the minimum number of calls, because the program was much slower on other
    // workloads.
    bool coarse = false;
    // If calls are slower than this after kEarlyStopCalls, Sampled::slow is set. 0: never.
    double slow_us = 0;
    double floor_us = 0;  // no call can be faster; 0: unknown
    // Measured before the program was loaded.
    IdlePaces alone;
  };
  struct Sampled {
    Ending ending;
    v1::Samples samples;
    double audit_ratio = 0;
    std::string timing;
    bool host_bound = false;
    double host_us = 0;
    double sm_clock_mhz = 0;
    uint64_t throttle_reasons = 0;
    bool slow = false;
    // Nothing was timed because a recording broke the program. It needs a new process, without
    // graphs.
    bool spoiled = false;
  };
  // Measures an idle runner's lead-in and round trip after the verifier's context had the device.
  // Non-OK is an error of the machine.
  using RoundTrip = std::function<absl::StatusOr<Metronome::Pace>()>;

  DeviceSampler(DeviceCalls& calls, CallDealer& dealer, ClockWatch& watch, RoundTrip round_trip,
                const Clock& clock, Options options)
      : calls_(calls),
        dealer_(dealer),
        watch_(watch),
        round_trip_(std::move(round_trip)),
        clock_(clock),
        options_(std::move(options)) {}

  // Non-OK is an error of this machine: the GPU's clocks stay reduced, or the metronome stopped.
  absl::StatusOr<Sampled> Sample();

 private:
  enum class Way { kEvents, kGraph, kVerifierClock };

  // `late_inputs` is that of Options.
  absl::Status Measure(bool late_inputs, Sampled* sampled);
  // Runs one batch for the samples, and one for the audit if that is a separate one. *counted is
  // false if the clocks were reduced.
  absl::Status MeasureOnce(int oracled, Ending* ending, bool* counted);
  absl::Status RunAudited(const std::vector<WorkloadSession::Call>& calls,
                          const WorkloadSession::BatchForm& form, WorkloadSession::Batch* batch,
                          bool* counted);
  // *escaped_ratio: set to the ratio of the verifier's clock to the runner's if time escaped, else
  // unchanged.
  absl::Status LockStep(Sampled* sampled, double* escaped_ratio);
  bool Enough(absl::Time wall_end) const;
  int CallsOfBatch();
  // Nothing of this is timed.
  Ending RunWithLateInputs();
  int MostCallsOfReplay() const;
  std::vector<double> Samples() const;

  DeviceCalls& calls_;
  CallDealer& dealer_;
  ClockWatch& watch_;
  const RoundTrip round_trip_;
  const Clock& clock_;
  const Options options_;

  WarmDevice warm_;
  RecordedCalls recorded_;
  Way way_ = Way::kEvents;
  DeviceAudit audit_;
  std::vector<double> latency_us_;
  std::vector<double> host_us_;
  size_t calls_done_ = 0;
  size_t max_batches_ = 0;  // of this measurement
  double measured_us_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_SAMPLER_H_
