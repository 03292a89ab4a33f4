#include "coordinator/search/attempts/sequential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/rng.h"
#include "tests/coordinator/search/attempts/attempt_driver.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  v1::SequentialSettings settings = context.config.sequential();
  SettingFaults faults;
  Sequential::Complete(&settings, &faults);
  EXPECT_THAT(faults.all(), testing::IsEmpty());
  return std::make_unique<AttemptSearch>("sequential", context, FakeAttemptProposer(),
                                         std::make_unique<Sequential>(settings));
}

AttemptDriver::Reply Programs(std::vector<std::string> programs) {
  return [programs](const AskModel& ask) {
    return programs.at(static_cast<size_t>(ask.labels.attempt) - 1);
  };
}

TEST(SequentialTest, ATrace) {
  SearchContext context = AttemptContext(5);
  context.config.mutable_sequential()->set_history(2);
  AttemptDriver driver(
      context, Make,
      Programs({"typo", "works score=1", "broken", "fast score=2", "works score=1"}));
  driver.Start();
  driver.Run();
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(ask 1 sample/1 base=[none]
--
screen attempt/1 [typo] of call 1
CANDIDATE_PROPOSED 1
--
ask 2 debug/2 base=[none] failed=[typo] expected ';' history=attempt 1: compile_error: expected ';'; it said: typo
CANDIDATE_FAILED 1 compile_error: expected ';'
--
screen attempt/2 [works score=1] of call 2 from a parent
CANDIDATE_PROPOSED 2
--
ask 3 improve/3 base=[works score=1] us=100 history=attempt 1: compile_error: expected ';'; it said: typo / attempt 2: score 1.000, 100.00 us; it said: works score=1
CANDIDATE_PASSED 2 score 1.000, 100.00 us
--
screen attempt/3 [broken] of call 3 from a parent
CANDIDATE_PROPOSED 3
--
ask 4 improve/4 base=[works score=1] us=100 failed=[broken] expected ';' history=attempt 2: score 1.000, 100.00 us; it said: works score=1 / attempt 3: compile_error: expected ';'; it said: broken
CANDIDATE_FAILED 3 compile_error: expected ';'
--
screen attempt/4 [fast score=2] of call 4 from a parent
CANDIDATE_PROPOSED 4
--
ask 5 improve/5 base=[fast score=2] us=50 history=attempt 3: compile_error: expected ';'; it said: broken / attempt 4: score 2.000, 50.00 us; it said: fast score=2
CANDIDATE_PASSED 4 score 2.000, 50.00 us
--
NOTE 5 duplicate, not evaluated again: the same program as in round 2 (score 1.000, 100.00 us)
finished: budget of 5 rounds is spent
)");
}

TEST(SequentialTest, TheBaseIsAlwaysTheBestThatStands) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    AttemptDriver driver(AttemptContext(30, 3), Make, [seed](const AskModel& ask) {
      Rng rng(seed * 7919 + static_cast<uint64_t>(ask.call_number));
      return rng.NextBelow(3) == 0
                 ? absl::StrCat("p", ask.call_number, " fail")
                 : absl::StrCat("p", ask.call_number,
                                " score=", 1 + static_cast<double>(rng.NextBelow(100)));
    });
    Rng order(seed);
    driver.pick = [&](size_t count) { return static_cast<size_t>(order.NextBelow(count)); };
    driver.confirm = [](const v1::Sources& sources) {
      return sources.files(0).content().size() % 3 == 0 ? v1::OUTCOME_INCORRECT
                                                        : v1::OUTCOME_PASSED;
    };
    size_t seen = 0;
    driver.after_step = [&](AttemptDriver& self) {
      const v1::AttemptSearchState state = self.state();
      double best = -1;
      for (const auto& [id, program] : state.log().screened()) {
        const auto confirmed = state.log().confirmed().find(id);
        const bool refused =
            confirmed != state.log().confirmed().end() && confirmed->second.refused();
        if (program.passed()) {
          ASSERT_FALSE(refused);
          best = std::max(best, program.score());
        }
      }
      for (; seen < self.asked.size(); ++seen) {
        const AskModel& ask = self.asked[seen];
        if (best < 0) {
          EXPECT_NE(ask.labels.purpose, "improve");
          continue;
        }
        EXPECT_EQ(ask.labels.purpose, "improve");
        EXPECT_THAT(ask.user, HasSubstr(absl::StrCat(" us=", 100 / best)));
      }
    };
    driver.Start();
    driver.Run();
    EXPECT_EQ(driver.state().rounds_done(), 30);
  }
}

TEST(SequentialTest, ARefusedProgramIsNoBaseAndWhyIsTold) {
  AttemptDriver driver(AttemptContext(3), Make,
                       Programs({"good score=1", "cheat score=9", "next score=2"}));
  // The confirmation of the cheat ends before the third question is asked.
  driver.confirm = [](const v1::Sources& sources) {
    return sources.files(0).content() == "cheat score=9" ? v1::OUTCOME_INCORRECT
                                                         : v1::OUTCOME_PASSED;
  };
  driver.pick = [](size_t count) { return count - 1; };
  driver.after_step = [](AttemptDriver&) {};
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "improve/2", "improve/3"));
  EXPECT_EQ(driver.state().log().screened_size(), 3);
  const auto last = driver.state();
  int standing = 0;
  for (const auto& [id, program] : last.log().screened()) standing += program.passed() ? 1 : 0;
  EXPECT_EQ(standing, 2);
  const bool told = std::any_of(driver.events.begin(), driver.events.end(), [](const auto& event) {
    return event.text().find("nothing more is built on it") == 0;
  });
  EXPECT_TRUE(told);
}

TEST(SequentialTest, AGivenProgramIsTheFirstBaseOrIsRepaired) {
  for (const bool works : {true, false}) {
    SearchContext context = AttemptContext(1);
    context.config.add_seed_solution()->set_path("kernel.cpp");
    context.config.mutable_seed_solution(0)->set_content(works ? "seed score=1" : "seed fail");
    AttemptDriver driver(context, Make, Programs({"next score=2"}));
    driver.Start();
    driver.Run();
    EXPECT_THAT(driver.Calls(), ElementsAre(works ? "improve/1" : "debug/1"));
    EXPECT_THAT(driver.asked[0].user, HasSubstr(works ? "base=[seed score=1]" : "[seed fail]"));
  }
}

TEST(SequentialTest, AProfiledBaseIsShownWithItsProfile) {
  SearchContext context = AttemptContext(2);
  context.task.set_device(v1::DEVICE_CLASS_CUDA);
  context.config.set_profile(v1::PROFILE_POLICY_AUTO);
  AttemptDriver driver(context, Make, Programs({"good score=1", "next score=2"}));
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.profiled, 1) << "the last one's would be shown to nobody";
  EXPECT_THAT(driver.asked[1].user, HasSubstr("profile=decode"));
}

TEST(SequentialTest, HistoryIsBounded) {
  v1::SequentialSettings settings;
  settings.set_history(33);
  SettingFaults faults;
  Sequential::Complete(&settings, &faults);
  EXPECT_THAT(faults.all(), ElementsAre("sequential.history is 33, must be in [0, 32]"));

  SearchContext context = AttemptContext(6);
  context.config.mutable_sequential()->set_history(0);
  AttemptDriver driver(context, Make, [](const AskModel& ask) {
    return absl::StrCat("p", ask.call_number, " score=", ask.call_number);
  });
  driver.Start();
  driver.Run();
  for (const AskModel& ask : driver.asked) EXPECT_THAT(ask.user, Not(HasSubstr("history")));
}

}  // namespace
}  // namespace ksearch
