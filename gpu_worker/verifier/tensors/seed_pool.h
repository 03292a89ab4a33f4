#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_POOL_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SEED_POOL_H_

#include <deque>
#include <optional>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/input_generator.h"

namespace ksearch {

// The seeds that screenings draw from. With a fresh seed for every job, the reference would have to
// answer everything again for every job; with a permanent seed, one candidate could learn about it
// and tell the next. Thread-compatible.
class SeedPool {
 public:
  // One draw in `draws_per_seed` makes a fresh seed; if there are then more than `seeds`, the
  // oldest is retired.
  SeedPool(int seeds, int draws_per_seed, Rng rng)
      : seeds_(static_cast<size_t>(seeds)), draws_per_seed_(draws_per_seed), rng_(rng) {}

  // *retired: a seed that will not be drawn again.
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
