#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_METRONOME_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_METRONOME_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"

namespace ksearch {

// Measures the overhead of a batch apart from its calls: round trips to a runner that never loads
// anything. The candidate's own runner cannot be used, since it would gain by being slow.
// Thread-compatible.
class Metronome {
 public:
  Metronome(RunnerStarter& starter, const Clock& clock) : starter_(starter), clock_(clock) {}

  // One round trip, including waits for a core: a runner's batch has those too, but the kernel
  // counts some of them only if the core was awake. Starts the runner if there is none. Non-OK is
  // an error of this machine.
  absl::StatusOr<absl::Duration> Tick();

  // GPU: a lead-in and the round trip right after it, excluding waits for a core.
  struct Pace {
    absl::Duration lead_in;
    absl::Duration round_trip;
  };
  absl::StatusOr<Pace> TickAfterLeadIn();

 private:
  absl::Status Wake();
  absl::StatusOr<RunnerLink::BatchReply> RunIdle();
  RunnerStarter& starter_;
  const Clock& clock_;
  std::unique_ptr<RunnerLink> link_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_METRONOME_H_
