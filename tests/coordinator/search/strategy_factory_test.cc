#include "coordinator/search/strategy_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_THAT(std::string(strategy.status().message()), HasSubstr("world_model"));
}

}  // namespace
}  // namespace ksearch
