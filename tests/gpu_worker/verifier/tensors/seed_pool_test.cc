#include "gpu_worker/verifier/tensors/seed_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace ksearch {
namespace {

TEST(SeedPoolTest, SeedsServeSomeDrawsAndAreRetired) {
  constexpr int kDraws = 2000;
  SeedPool pool(3, 4, Rng(1));
  std::map<std::pair<uint64_t, uint64_t>, int> draws;
  int retired_seeds = 0;
  for (int i = 0; i < kDraws; ++i) {
    std::optional<Seed> retired;
    const Seed seed = pool.Draw(&retired);
    EXPECT_TRUE(pool.Contains(seed));
    ++draws[{seed.high, seed.low}];
    if (!retired.has_value()) continue;
    ++retired_seeds;
    EXPECT_FALSE(pool.Contains(*retired));
    EXPECT_EQ(draws.count({retired->high, retired->low}), 1u);
  }
  // One draw in four is fresh; standard deviation 19.
  EXPECT_NEAR(static_cast<double>(draws.size()), kDraws / 4, 80);
  EXPECT_EQ(retired_seeds, static_cast<int>(draws.size()) - 3);
}

}  // namespace
}  // namespace ksearch
