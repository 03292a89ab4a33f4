// A judge before the attempts of K-Search's cycles (RunConfig.judge).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kTree[] =
    "ops { insert { parent_id: 'root' node_id: 'a' node { title: 'Tile it' description: 'rows' "
    "score: 0.9 difficulty: 1 } } } "
    "ops { insert { parent_id: 'root' node_id: 'b' node { title: 'B' score: 0.5 difficulty: 1 } } "
    "} "
    "ops { insert { parent_id: 'root' node_id: 'c' node { title: 'C' score: 0.4 difficulty: 1 } } "
    "} ";

// The n-th attempt of a cycle scores n; revisions are empty; the judge says "plan of CALL".
std::string Reply(const AskModel& ask) {
  if (ask.role == kJudgeRole) return absl::StrCat("plan of ", ask.call_number);
  if (ask.labels.purpose == "init") return kTree;
  if (ask.role == "code") return absl::StrCat("program score=", ask.labels.attempt);
  return "";
}

SearchContext JudgedContext(bool paper, int rounds) {
  SearchContext context = TestContext(paper, rounds);
  context.config.set_judge(true);
  return context;
}

TEST(JudgeStrategyTest, LooksAtTheCyclesBestBeforeItIsImproved) {
  SearchDriver driver(JudgedContext(false, 3), Reply);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "action/a/1", "judge/a/2", "improve/a/2",
                                          "judge/a/3", "improve/a/3"));
  EXPECT_EQ(driver.asked[2].role, "judge");
  EXPECT_THAT(driver.asked[2].user, HasSubstr("judge=[program score=1]"));
  EXPECT_THAT(driver.asked[2].user, HasSubstr("intent=[Tile it\nrows]"));
  EXPECT_THAT(driver.asked[3].user, HasSubstr("verdict=[plan of 3]"));
  EXPECT_THAT(driver.asked[5].user, HasSubstr("verdict=[plan of 5]"));
  const auto told =
      testing::Property(&v1::RunEvent::text, "judge: limited by compute; unroll: plan of 3");
  EXPECT_THAT(driver.events, testing::Contains(told));
}

TEST(JudgeStrategyTest, StatusSaysThatAJudgeIsAsked) {
  SearchDriver driver(JudgedContext(false, 2), Reply);
  driver.Start();
  std::vector<std::string> phases;
  while (driver.Step()) {
    v1::RunStatus status;
    driver.strategy().Describe(&status);
    const std::string phase = status.cycles_size() > 0 ? status.cycles(0).phase() : "";
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  }
  EXPECT_THAT(phases, testing::IsSupersetOf({"coding", "evaluating", "judging"}));
  const auto judged = std::find(phases.begin(), phases.end(), "judging");
  ASSERT_NE(judged, phases.end());
  EXPECT_EQ(*(judged + 1), "coding");
}

TEST(JudgeStrategyTest, WorksWithThePublishedPresetToo) {
  SearchDriver driver(JudgedContext(true, 2), Reply);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("judge"), ElementsAre("judge/a/2"));
}

TEST(JudgeStrategyTest, LooksAtTheBaseOfAnActionWithTheActionsIntent) {
  SearchContext context = JudgedContext(false, 1);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=0.6");
  SearchDriver driver(context, Reply);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "judge/a/1", "action/a/1"));
  EXPECT_THAT(driver.asked[1].user, HasSubstr("judge=[seed score=0.6]"));
  EXPECT_THAT(driver.asked[2].user, HasSubstr("verdict=[plan of 2]"));
}

TEST(JudgeStrategyTest, IsAskedOnceMoreAndThenDoneWithout) {
  SearchDriver driver(JudgedContext(false, 2), [](const AskModel& ask) {
    return ask.role == kJudgeRole ? "unusable" : Reply(ask);
  });
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("judge"), ElementsAre("judge/a/2", "judge/a/2"));
  EXPECT_THAT(driver.asked[3].user, HasSubstr("complaint=[no METHOD]"));
  EXPECT_THAT(driver.asked[4].user, Not(HasSubstr("verdict")));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(JudgeStrategyTest, AFailedCallCostsTheVerdictAndNotTheAttempt) {
  SearchDriver driver(JudgedContext(false, 2), Reply);
  driver.fault = [](const AskModel& ask) {
    return ask.role == kJudgeRole ? absl::UnavailableError("down") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_EQ(driver.state().log().passed(), 2);
}

TEST(JudgeStrategyTest, AModelThatCannotBeUsedFailsTheRunAndIsAskedAgainOnResume) {
  bool down = true;
  SearchDriver driver(JudgedContext(false, 2), Reply);
  driver.fault = [&](const AskModel& ask) {
    return down && ask.role == kJudgeRole ? absl::UnauthenticatedError("no key") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.failed());
  down = false;
  driver.Restart(JudgedContext(false, 2));
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_THAT(driver.Calls("judge"), ElementsAre("judge/a/2", "judge/a/2"));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(JudgeStrategyTest, ProgramsThatFailAreNotJudged) {
  SearchDriver driver(JudgedContext(false, 4), [](const AskModel& ask) {
    return ask.role == "code" ? "program fail" : Reply(ask);
  });
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("judge"), testing::IsEmpty());
}

}  // namespace
}  // namespace ksearch
