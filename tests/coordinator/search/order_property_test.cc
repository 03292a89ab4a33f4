// For any answers in any order: the budget holds, no node is worked on twice at once, the tree
// stays a tree, and the search ends.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "common/rng.h"
#include "coordinator/world_model/world_model.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/random_replies.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

class OrderPropertyTest : public ::testing::TestWithParam<std::tuple<bool, int, int>> {};

TEST_P(OrderPropertyTest, InvariantsHoldAfterEveryStep) {
  const auto [paper, parallel, faults] = GetParam();
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(60, 12); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const int rounds = 5 + static_cast<int>(seed % 37);
    SearchDriver driver(TestContext(paper, rounds, parallel), RandomReplies(seed));
    Rng order(seed);
    driver.pick = [&](size_t count) { return static_cast<size_t>(order.NextBelow(count)); };
    driver.fault = [&, faults = faults](const AskModel&) {
      return faults > 0 && order.NextBelow(100) < static_cast<uint64_t>(faults)
                 ? absl::UnavailableError("down")
                 : absl::OkStatus();
    };
    driver.after_step = [&, parallel = parallel](SearchDriver& self) {
      const v1::SearchState state = self.state();
      ASSERT_TRUE(CheckInvariants(state.world_model()).ok())
          << CheckInvariants(state.world_model()).ToString();
      ASSERT_LE(state.rounds_started(), rounds);
      ASSERT_LE(state.rounds_done(), state.rounds_started());
      ASSERT_LE(state.cycles_size(), parallel);
      std::set<std::string> nodes;
      for (const v1::CycleState& cycle : state.cycles()) {
        ASSERT_TRUE(nodes.insert(cycle.node_id()).second) << "two cycles on " << cycle.node_id();
        ASSERT_NE(FindNode(state.world_model(), cycle.node_id()), nullptr);
      }
    };
    driver.Start();
    driver.Run();
    if (driver.failed()) continue;
    const v1::SearchState state = driver.state();
    EXPECT_EQ(state.rounds_done(), state.rounds_started());
    EXPECT_EQ(state.cycles_size(), 0);
    if (driver.finish_reason() != "no executable open action nodes") {
      EXPECT_EQ(state.rounds_started(), rounds);
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, OrderPropertyTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(1, 4),
                                            ::testing::Values(0, 15)));

}  // namespace
}  // namespace ksearch
