#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_POOL_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_POOL_H_

#include <deque>
#include <optional>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/input_generator.h"

namespace ksearch {

// The seeds that screenings draw from. A fresh one for every job would have the reference answer
// everything again for every job; a permanent seed could be learned by one candidate for the next.
// Thread-compatible.
class SeedPool {
 public:
  // One draw in `draws_per_seed` makes a fresh seed; then the oldest goes, if there are more than
  // `seeds`.
  SeedPool(int seeds, int draws_per_seed, Rng rng)
      : seeds_(static_cast<size_t>(seeds)), draws_per_seed_(draws_per_seed), rng_(rng) {}

  // *retired: a seed that does not come again.
  Seed Draw(std::optional<Seed>* retired);
  bool Contains(const Seed& seed) const;

 private:
  const size_t seeds_;
  const int draws_per_seed_;
  Rng rng_;
  std::deque<Seed> pool_;  // oldest first
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_POOL_H_
