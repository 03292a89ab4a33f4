#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_CALLS_IN_TURN_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_CALLS_IN_TURN_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/call_turns.h"
#include "common/clock.h"
#include "common/rng.h"
#include "gpu_worker/verifier/dialogue/deliveries.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/dialogue/separate_cores.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"

namespace ksearch {

// Releases each call but the first together with all its inputs, once the call before it has
// returned, and times it. Meanwhile this thread keeps a core, which the runner's main thread does
// not get.
class CallsInTurn final : public Deliveries {
 public:
  // All arguments must outlive this.
  CallsInTurn(const RunnerLink& link, BufferSets& buffers, const Clock& clock,
              const std::vector<FilledSet>& calls, Rng* rng)
      : link_(link), buffers_(buffers), clock_(clock), calls_(calls), rng_(rng) {}

  bool in_turn() const override { return true; }
  bool Withhold() override;
  void Deliver(uint64_t poison_salt, absl::Time deadline) override;

  // By this process' clock, from each call's release to its return.
  std::vector<double> TakeMicros() { return std::move(us_); }
  // Whether a call was said to have returned before its outputs were written.
  bool unfinished() const { return unfinished_; }

 private:
  // Waits until so many calls have returned. False: the runner has answered, or it is too late.
  bool AwaitReturns(uint32_t calls, absl::Time deadline) const;
  bool HaveReturned(uint32_t calls) const;

  const RunnerLink& link_;
  BufferSets& buffers_;
  const Clock& clock_;
  const std::vector<FilledSet>& calls_;
  Rng* const rng_;
  CallTurns* turns_ = nullptr;
  std::vector<std::unique_ptr<LateInputs>> inputs_;  // of all calls but the first
  std::unique_ptr<SeparateCores> cores_;
  std::vector<double> us_;
  bool unfinished_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_CALLS_IN_TURN_H_
