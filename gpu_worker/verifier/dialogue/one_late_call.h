#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ONE_LATE_CALL_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ONE_LATE_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/rng.h"
#include "gpu_worker/verifier/dialogue/deliveries.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"

namespace ksearch {

// Delivers a part of one call's inputs at a random time before that call should begin.
class OneLateCall final : public Deliveries {
 public:
  // `calls`: at least two, in their order. `call_time`: what one of them may take. All arguments
  // must outlive this.
  OneLateCall(const RunnerLink& link, BufferSets& buffers, const Clock& clock,
              const std::vector<FilledSet>& calls, absl::Duration call_time, Rng* rng);

  bool Withhold() override;
  void Deliver(uint64_t poison_salt, absl::Time deadline) override;

  std::optional<size_t> in_doubt() const override {
    return inputs_ == nullptr || in_time_ ? std::nullopt : std::optional<size_t>(place_);
  }

  const FilledSet& call() const { return calls_[place_]; }
  // Whether its inputs arrived before the call can have begun.
  bool in_time() const { return in_time_; }

 private:
  // Waits until `done`, the runner's answer, or `deadline`.
  void Await(const std::function<bool()>& done, absl::Time deadline) const;
  void AwaitTime(absl::Time time, absl::Time deadline) const;

  const RunnerLink& link_;
  BufferSets& buffers_;
  const Clock& clock_;
  const std::vector<FilledSet>& calls_;
  Rng* const rng_;
  size_t place_ = 0;        // in the batch, above 0
  size_t done_ = 0;         // this many calls (fewer than place_) return first
  absl::Duration further_;  // and then this much time passes
  std::unique_ptr<LateInputs> inputs_;
  bool in_time_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ONE_LATE_CALL_H_
