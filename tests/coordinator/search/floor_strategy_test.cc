// K-Search ends when it is near the time that no call can beat (RunConfig.floor_share).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kTree[] =
    "ops { insert { parent_id: 'root' node_id: 'a' node { title: 'A' score: 0.9 difficulty: 1 } } "
    "} "
    "ops { insert { parent_id: 'root' node_id: 'b' node { title: 'B' score: 0.8 difficulty: 1 } } "
    "} "
    "ops { insert { parent_id: 'root' node_id: 'c' node { title: 'C' score: 0.7 difficulty: 1 } } "
    "} ";

// The floor is 10 us, and the program of call n takes 100 us / n: call 9 is at 90 % of it.
std::string NearerAndNearer(const AskModel& ask) {
  if (ask.labels.purpose == "init") return kTree;
  if (ask.role != "code") return "";
  return absl::StrCat("floor=10 program score=", ask.call_number);
}

SearchContext FloorContext(int rounds, int parallel = 1) {
  SearchContext context = TestContext(false, rounds, parallel);
  context.config.mutable_world_model()->set_learn_from_confirmations(true);
  context.config.set_floor_share(0.9);
  return context;
}

TEST(FloorStrategyTest, TheCycleEndsThereAndNoOtherBegins) {
  SearchDriver driver(FloorContext(40), NearerAndNearer);
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.finished());
  EXPECT_THAT(driver.finish_reason(), HasSubstr("runs at 90 % of the fastest possible"));
  EXPECT_EQ(driver.state().rounds_done(), 8);
  EXPECT_EQ(driver.CountEvents(v1::RunEvent::CYCLE_STARTED), 1);
  EXPECT_EQ(driver.CountEvents(v1::RunEvent::NODE_SOLVED), 1);
  // No revision whose result could not be used.
  EXPECT_THAT(driver.Calls("world_model"), testing::ElementsAre("init//1"));
}

TEST(FloorStrategyTest, OtherCyclesEndWithTheAttemptUnderWay) {
  SearchDriver driver(FloorContext(40, 3), NearerAndNearer);
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.finished());
  EXPECT_EQ(driver.state().cycles_size(), 0);
  EXPECT_EQ(driver.state().rounds_done(), driver.state().rounds_started());
  EXPECT_LE(driver.state().rounds_done(), 14);
}

TEST(FloorStrategyTest, ARefusedProgramWasNotThereAndTheSearchGoesOn) {
  for (const bool restart : {false, true}) {
    SearchDriver driver(FloorContext(40), NearerAndNearer);
    driver.restart_before_every_step = restart;
    driver.confirm = [](const v1::Sources& sources) {
      return absl::EndsWith(sources.files(0).content(), "score=9") ? v1::OUTCOME_INCORRECT
                                                                   : v1::OUTCOME_PASSED;
    };
    driver.Start();
    driver.Run();
    EXPECT_TRUE(driver.finished());
    EXPECT_GT(driver.state().rounds_done(), 8);
    EXPECT_THAT(driver.finish_reason(), HasSubstr("of the fastest possible"));
  }
}

TEST(FloorStrategyTest, AGivenProgramThereNeedsNoModel) {
  SearchContext context = FloorContext(5);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("floor=95 seed score=1");
  SearchDriver driver(context, NearerAndNearer);
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.finished());
  EXPECT_TRUE(driver.asked.empty());
}

TEST(FloorStrategyTest, WithoutTheSettingItGoesOn) {
  SearchContext context = FloorContext(12);
  context.config.clear_floor_share();
  SearchDriver driver(context, NearerAndNearer);
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.state().rounds_done(), 12);
}

}  // namespace
}  // namespace ksearch
