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
// warm-up it takes one of three ways:
//   graph           calls that can be recorded: replays of chains, each another one and held
//   against
//                   the verifier's clock
//   events          calls that cannot be: each by itself between two separators; other batches in
//   between
//                   are held against the verifier's clock
//   verifier_clock  host-bound calls that cannot be recorded: the verifier's clock alone
// Batches during which the clocks were pulled down do not count.
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
    // No more calls than the least: others of this program were slow enough.
    bool coarse = false;
    // Slower than this after kEarlyStopCalls: told, see Sampled::slow. 0: never.
    double slow_us = 0;
    double floor_us = 0;  // no call can be faster; 0: unknown
    // Taken before the program was there.
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
    // Nothing was timed: a recording broke the program. A new process, without graphs.
    bool spoiled = false;
  };
  // What an idle runner's lead-in and batch take when the verifier's context had the device; non-OK
  // is trouble of the machine.
  using RoundTrip = std::function<absl::StatusOr<Metronome::Pace>()>;

  DeviceSampler(DeviceCalls& calls, CallDealer& dealer, ClockWatch& watch, RoundTrip round_trip,
                const Clock& clock, Options options)
      : calls_(calls),
        dealer_(dealer),
        watch_(watch),
        round_trip_(std::move(round_trip)),
        clock_(clock),
        options_(std::move(options)) {}

  // Non-OK is trouble of this machine: a GPU whose clocks stay down, a metronome that stopped.
  absl::StatusOr<Sampled> Sample();

 private:
  enum class Way { kEvents, kGraph, kVerifierClock };

  // `late_inputs`: of Options.
  absl::Status Measure(bool late_inputs, Sampled* sampled);
  // One batch that counts for the samples, and one for the audit where that is another. *counted:
  // false if the clocks were down.
  absl::Status MeasureOnce(int oracled, Ending* ending, bool* counted);
  absl::Status RunAudited(const std::vector<WorkloadSession::Call>& calls,
                          const WorkloadSession::BatchForm& form, WorkloadSession::Batch* batch,
                          bool* counted);
  // *escaped_ratio: of the verifier's clock over the runner's if time escaped, else left.
  absl::Status LockStep(Sampled* sampled, double* escaped_ratio);
  bool Enough(absl::Time wall_end) const;
  int CallsOfBatch();
  // None of it is timed.
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
