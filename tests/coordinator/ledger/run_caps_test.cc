#include "coordinator/ledger/run_caps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/textproto.h"

namespace ksearch {
namespace {

v1::Budget Budget(const std::string& text) {
  v1::Budget budget;
  EXPECT_TRUE(ParseTextproto(text, "budget", &budget).ok());
  return budget;
}

TEST(RunCapsTest, AbsentAndZeroAreNoCapsButMoneyMayBeNone) {
  const auto none = ReadCaps(v1::Budget());
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->run, ScopeCaps());
  EXPECT_FALSE(none->caps_money());
  const auto free = ReadCaps(Budget("usd: '0'"));
  EXPECT_EQ(free->run.nano_usd, 0);
  EXPECT_TRUE(free->caps_money());
}

TEST(RunCapsTest, TheTightestCapOfAModelHolds) {
  const auto caps = ReadCaps(Budget(
      "models { model: 'm' usd: '5' llm_calls: 9 } models { provider: 'p' model: 'm' usd: '3' }"));
  ASSERT_TRUE(caps.ok()) << caps.status();
  EXPECT_EQ(caps->ForModel("p", "m").nano_usd, 3'000'000'000);
  EXPECT_EQ(caps->ForModel("p", "m").calls, 9);
  EXPECT_EQ(caps->ForModel("q", "m").nano_usd, 5'000'000'000);
  EXPECT_EQ(caps->ForModel("q", "n"), ScopeCaps());
}

TEST(RunCapsTest, EveryFaultIsNamed) {
  const auto caps =
      ReadCaps(Budget("usd: 'x' tokens: -1 wall_time { seconds: -5 } models { usd: '1' }"));
  const std::string message(caps.status().message());
  for (const char* field :
       {"budget.usd", "budget.tokens", "budget.wall_time", "budget.models[0].model"}) {
    EXPECT_THAT(message, testing::HasSubstr(field));
  }
}

TEST(RunCapsTest, AResumeReplacesOnlyTheCapsItNames) {
  const v1::Budget merged = MergedBudget(
      Budget("usd: '1' llm_calls: 5 models { model: 'm' usd: '2' tokens: 7 }"),
      Budget("usd: '10' models { model: 'm' usd: '4' } models { model: 'n' usd: '6' }"));
  EXPECT_EQ(merged.usd(), "10");
  EXPECT_EQ(merged.llm_calls(), 5);
  ASSERT_EQ(merged.models_size(), 2);
  EXPECT_EQ(merged.models(0).usd(), "4");
  EXPECT_EQ(merged.models(0).tokens(), 7);
  EXPECT_EQ(merged.models(1).usd(), "6");
}

}  // namespace
}  // namespace ksearch
