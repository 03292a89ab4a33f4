#include "coordinator/search/strategy_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StrategyFactoryTest, MakesTheWorldModelStrategyByNameAndByDefault) {
  SearchContext context;
  context.task.set_name("t");
  context.task.mutable_definition()->set_name("t");
  context.config.set_language(v1::LANGUAGE_CPP);
  for (const char* name : {"", "world_model"}) {
    context.config.set_strategy(name);
    auto strategy = MakeStrategy(context);
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    const StepOutput out = (*strategy)->Start();
    ASSERT_EQ(out.asks.size(), 1u);
    EXPECT_EQ(out.asks[0].labels.purpose, "init");
    EXPECT_FALSE(out.asks[0].user.empty());
  }
}

TEST(StrategyFactoryTest, AnUnknownNameListsThoseThereAre) {
  SearchContext context;
  context.config.set_strategy("magic");
  const auto strategy = MakeStrategy(context);
  EXPECT_EQ(strategy.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(strategy.status().message()), HasSubstr("\"magic\""));
  for (const char* name : {"world_model", "best_of_n", "sequential", "openevolve", "evoengineer",
                           "shinka", "racing", "puct", "adaevolve"}) {
    EXPECT_THAT(std::string(strategy.status().message()), HasSubstr(name));
  }
}

TEST(StrategyFactoryTest, StrategiesWithoutATreeAskForAProgramAtOnce) {
  SearchContext context;
  context.task.set_name("t");
  context.task.mutable_definition()->set_name("t");
  context.config.set_language(v1::LANGUAGE_CPP);
  for (const char* name : {"best_of_n", "sequential", "openevolve", "evoengineer", "shinka",
                           "racing", "puct", "adaevolve"}) {
    v1::RunConfig request;
    request.set_language(v1::LANGUAGE_CPP);
    request.set_strategy(name);
    context.config = request;
    ASSERT_THAT(CompleteStrategySettings(request, &context.config), IsEmpty());
    SetTimeBaselineFirst(false, &context.config);
    auto strategy = MakeStrategy(context);
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    const StepOutput out = (*strategy)->Start();
    ASSERT_EQ(out.asks.size(), 1u);
    if (std::string(name) == "racing") {
      EXPECT_EQ(out.asks[0].role, "notes");
      EXPECT_EQ(out.asks[0].labels.purpose, "plan");
      EXPECT_THAT(out.asks[0].user, HasSubstr("Give 4 plans"));
    } else {
      EXPECT_EQ(out.asks[0].role, "code");
      EXPECT_EQ(out.asks[0].labels.purpose, "sample");
      EXPECT_THAT(out.asks[0].user, HasSubstr("fastest correct program"));
    }
    EXPECT_EQ((*strategy)->world_model(), nullptr);
    EXPECT_TRUE(WritesPrograms(name, "code"));
    EXPECT_FALSE(WritesPrograms(name, "world_model"));
  }
}

TEST(StrategyFactoryTest, SettingsAreThoseOfTheRunsOwnStrategy) {
  v1::RunConfig request;
  request.set_strategy("sequential");
  request.mutable_best_of_n()->set_show_seed(false);
  request.mutable_world_model()->set_max_new_nodes(2);
  v1::RunConfig config = request;
  EXPECT_THAT(CompleteStrategySettings(request, &config),
              ElementsAre(HasSubstr("world_model has settings, but the run's strategy is "
                                    "sequential"),
                          HasSubstr("best_of_n has settings")));
  // A strategy's settings in the coordinator's defaults apply only to runs with that strategy.
  request.clear_best_of_n();
  request.clear_world_model();
  EXPECT_THAT(CompleteStrategySettings(request, &config), IsEmpty());
  EXPECT_FALSE(config.has_best_of_n());
  EXPECT_FALSE(config.has_world_model());
  EXPECT_EQ(config.sequential().history(), 8);
  EXPECT_TRUE(config.evaluation().time_baseline_first());
  EXPECT_TRUE(config.evaluation().examine_new_bests());
  SetTimeBaselineFirst(false, &config);
  EXPECT_FALSE(config.evaluation().time_baseline_first());
  EXPECT_FALSE(config.has_world_model());

  v1::RunConfig tree;
  tree.mutable_evaluation()->set_examine_new_bests(false);
  config = tree;
  EXPECT_THAT(CompleteStrategySettings(tree, &config),
              ElementsAre(HasSubstr("evaluation has settings")));
  EXPECT_EQ(config.world_model().stagnation_window(), 3);
  v1::RunConfig published;
  published.mutable_world_model()->set_preset(v1::PRESET_PAPER);
  config = published;
  EXPECT_THAT(CompleteStrategySettings(published, &config), IsEmpty());
  EXPECT_EQ(config.world_model().stagnation_window(), 7);
}

}  // namespace
}  // namespace ksearch
