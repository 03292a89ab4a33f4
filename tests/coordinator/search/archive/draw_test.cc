#include "coordinator/search/archive/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/coordinator/search/archive/chi_square.h"

namespace ksearch {
namespace {

TEST(DrawTest, IndexesComeAsOftenAsTheirWeightsSay) {
  const std::vector<double> weights = {1, 0, 3, -2, 0.5, std::nan("")};
  Rng rng(7);
  std::vector<int> counts(weights.size());
  for (int i = 0; i < 100000; ++i) ++counts[DrawWeighted(weights, rng)];
  EXPECT_EQ(counts[1] + counts[3] + counts[5], 0) << "these weigh nothing";
  EXPECT_TRUE(AgreesWith({counts[0], counts[2], counts[4]}, {1, 3, 0.5}));
  EXPECT_FALSE(AgreesWith({counts[0], counts[2], counts[4]}, {1, 3, 0.55})) << "the test can fail";
}

TEST(DrawTest, WithoutAnyWeightAllAreEquallyLikely) {
  Rng rng(8);
  std::vector<int> counts(4);
  for (int i = 0; i < 100000; ++i) ++counts[DrawWeighted({0, 0, 0, 0}, rng)];
  EXPECT_TRUE(AgreesWith(counts, {1, 1, 1, 1}));
}

TEST(DrawTest, SomeAreDifferentPlacesAndEverySetIsEquallyLikely) {
  Rng rng(9);
  std::vector<int> pairs(6);
  for (int i = 0; i < 60000; ++i) {
    const std::vector<int> drawn = DrawSome(std::vector<int>{0, 1, 2, 3}, 2, rng);
    ASSERT_EQ(drawn.size(), 2u);
    ASSERT_NE(drawn[0], drawn[1]);
    const int low = std::min(drawn[0], drawn[1]);
    const int high = std::max(drawn[0], drawn[1]);
    ++pairs[static_cast<size_t>(low == 0 ? high - 1 : low == 1 ? high + 1 : 5)];
  }
  EXPECT_TRUE(AgreesWith(pairs, {1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(DrawSome(std::vector<int>{5}, 3, rng).size(), 1u);
  EXPECT_TRUE(DrawSome(std::vector<int>{}, 3, rng).empty());
}

}  // namespace
}  // namespace ksearch
