#include "gpu_worker/verifier/tensors/seed_pool.h"

#include <algorithm>

namespace ksearch {

Seed SeedPool::Draw(std::optional<Seed>* retired) {
  if (!pool_.empty() && rng_.NextBelow(static_cast<uint64_t>(draws_per_seed_)) != 0) {
    return pool_[static_cast<size_t>(rng_.NextBelow(pool_.size()))];
  }
  pool_.push_back(Seed::Fresh());
  if (pool_.size() > seeds_) {
    *retired = pool_.front();
    pool_.pop_front();
  }
  return pool_.back();
}

bool SeedPool::Contains(const Seed& seed) const {
  return std::any_of(pool_.begin(), pool_.end(),
                     [&](const Seed& one) { return one.high == seed.high && one.low == seed.low; });
}

}  // namespace ksearch
