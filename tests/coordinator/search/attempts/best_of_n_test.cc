#include "coordinator/search/attempts/best_of_n.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/coordinator/search/attempts/attempt_driver.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  v1::BestOfNSettings settings = context.config.best_of_n();
  SettingFaults faults;
  BestOfN::Complete(&settings, &faults);
  return std::make_unique<AttemptSearch>("best_of_n", context, FakeAttemptProposer(),
                                         std::make_unique<BestOfN>(settings));
}

std::string Replies(const AskModel& ask) {
  constexpr const char* kPrograms[] = {"slow score=0.5", "wrong", "fast score=2", "slow score=0.5"};
  return kPrograms[ask.labels.attempt - 1];
}

SearchContext WithSeed(const std::string& text, int rounds) {
  SearchContext context = AttemptContext(rounds);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content(text);
  return context;
}

TEST(BestOfNTest, ATrace) {
  SearchContext context = AttemptContext(4);
  context.config.mutable_evaluation()->set_time_baseline_first(true);
  AttemptDriver driver(context, Make, Replies);
  driver.Start();
  driver.Run();
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(time the baseline
--
ask 1 sample/1 base=[none]
NOTE 0 the baseline was not timed: passed
--
screen attempt/1 [slow score=0.5] of call 1
CANDIDATE_PROPOSED 1
--
ask 2 sample/2 base=[none]
CANDIDATE_PASSED 1 score 0.500, 200.00 us
--
screen attempt/2 [wrong] of call 2
CANDIDATE_PROPOSED 2
--
ask 3 sample/3 base=[none]
CANDIDATE_FAILED 2 compile_error: expected ';'
--
screen attempt/3 [fast score=2] of call 3
CANDIDATE_PROPOSED 3
--
ask 4 sample/4 base=[none]
CANDIDATE_PASSED 3 score 2.000, 50.00 us
--
NOTE 4 duplicate, not evaluated again: the same program as in round 1 (score 0.500, 200.00 us)
finished: budget of 4 rounds is spent
)");
  EXPECT_EQ(driver.state().log().best_screened(), 2);
}

TEST(BestOfNTest, NothingThatASampleLedToIsShownToAnother) {
  SearchContext context = WithSeed("seed score=1", 6);
  context.task.set_device(v1::DEVICE_CLASS_CUDA);
  context.config.set_profile(v1::PROFILE_POLICY_AUTO);
  AttemptDriver driver(context, Make, [](const AskModel& ask) {
    return absl::StrCat("p", ask.labels.attempt,
                        ask.labels.attempt % 2 == 0 ? " fail" : " score=3");
  });
  driver.Start();
  driver.Run();
  for (const AskModel& ask : driver.asked) {
    EXPECT_EQ(ask.labels.purpose, "vary");
    EXPECT_EQ(ask.user, "base=[seed score=1]");
  }
  EXPECT_EQ(driver.profiled, 0) << "no prompt would show it";
  for (const ScreenCandidate& screen : driver.screened) {
    if (screen.round == 0) continue;
    EXPECT_EQ(screen.parent_candidate_id, driver.screened[0].candidate_id);
  }
}

TEST(BestOfNTest, AGivenProgramThatDoesNotStandIsNotShown) {
  AttemptDriver failed(WithSeed("seed fail", 2), Make, Replies);
  failed.Start();
  failed.Run();
  EXPECT_THAT(failed.Calls(), ElementsAre("sample/1", "sample/2"));

  AttemptDriver refused(WithSeed("seed score=1", 3), Make, Replies);
  refused.confirm = [](const v1::Sources& sources) {
    return sources.files(0).content() == "seed score=1" ? v1::OUTCOME_INCORRECT
                                                        : v1::OUTCOME_PASSED;
  };
  refused.Start();
  refused.Run();
  EXPECT_THAT(refused.Calls(), ElementsAre("vary/1", "sample/2", "sample/3"));

  SearchContext hidden = WithSeed("seed score=1", 1);
  hidden.config.mutable_best_of_n()->set_show_seed(false);
  AttemptDriver unseen(hidden, Make, Replies);
  unseen.Start();
  unseen.Run();
  EXPECT_THAT(unseen.Calls(), ElementsAre("sample/1"));
}

}  // namespace
}  // namespace ksearch
