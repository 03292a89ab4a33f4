#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_DELIVERIES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_DELIVERIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace ksearch {

// The inputs of a batch's calls that come while the runner makes the calls, and what the verifier
// does meanwhile. For one batch.
class Deliveries {
 public:
  virtual ~Deliveries() = default;

  // To be called once the inputs are written. Returns false if nothing can be withheld: then all
  // inputs are in place.
  virtual bool Withhold() = 0;
  // To be called after the batch was requested, if Withhold returned true. Delivers everything by
  // `deadline`, at which the runner is killed, or its answer. `poison_salt` is that of
  // BufferSets::Prepare.
  virtual void Deliver(uint64_t poison_salt, absl::Time deadline) = 0;
  // Whether the runner waits for a release before each call (BatchRequest.in_turn).
  virtual bool in_turn() const { return false; }
  // After Deliver: the place in the batch of a call that may have begun before its inputs came.
  virtual std::optional<size_t> in_doubt() const { return std::nullopt; }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_DELIVERIES_H_
