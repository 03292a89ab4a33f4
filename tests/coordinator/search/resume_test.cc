#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/random_replies.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> Transcript(bool paper, int parallel, uint64_t seed, bool restart,
                                    size_t* profiles, size_t* repairs, size_t* examinations) {
  SearchContext context = TestContext(paper, 25, parallel);
  // One third of the searches profile as on a GPU, one third throughout.
  context.task.set_device(seed % 3 == 1 ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU);
  context.config.set_profile(seed % 3 == 2 ? v1::PROFILE_POLICY_ALL : v1::PROFILE_POLICY_AUTO);
  if (seed % 2 == 0) {
    context.config.add_seed_solution()->set_path("kernel.cpp");
    context.config.mutable_seed_solution(0)->set_content("seed score=0.6");
  }
  context.config.mutable_world_model()->set_learn_from_confirmations(true);
  context.config.mutable_world_model()->set_examine_new_bests(true);
  context.config.mutable_world_model()->set_time_baseline_first(true);
  context.task.add_baselines()->set_language(context.config.language());
  context.config.set_judge(seed % 4 == 3);
  SearchDriver driver(context, RandomReplies(seed));
  Rng order(seed);
  driver.pick = [&](size_t count) { return static_cast<size_t>(order.NextBelow(count)); };
  driver.restart_before_every_step = restart;
  if (!paper) {
    driver.confirm = [](const v1::Sources& sources) {
      return sources.files(0).content().size() % 3 == 0 ? v1::OUTCOME_INCORRECT
                                                        : v1::OUTCOME_PASSED;
    };
  }
  driver.examine = [](const ExamineCandidate& candidate) {
    v1::JobResult result;
    result.mutable_sanitizer()->mutable_time()->set_seconds(1);
    const bool race = candidate.sources.files(0).content().size() % 4 == 0;
    result.set_outcome(race ? v1::OUTCOME_INCORRECT : v1::OUTCOME_PASSED);
    result.set_message("a race");
    return result;
  };
  driver.Start();
  driver.Run();
  *examinations += driver.examined.size();
  *profiles += driver.profiled.size();
  for (const AskModel& ask : driver.asked)
    *repairs += ask.user.rfind("kind=repair", 0) == 0 ? 1 : 0;
  return driver.transcript;
}

TEST(ResumeTest, ARestartBeforeEveryEventChangesNothing) {
  size_t steps = 0;
  size_t profiles = 0;
  size_t repairs = 0;
  size_t examinations = 0;
  for (const bool paper : {false, true}) {
    for (const int parallel : {1, 4}) {
      for (uint64_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE(absl::StrCat("paper ", paper, " parallel ", parallel, " seed ", seed));
        const auto undisturbed =
            Transcript(paper, parallel, seed, false, &profiles, &repairs, &examinations);
        steps += undisturbed.size();
        EXPECT_EQ(undisturbed,
                  Transcript(paper, parallel, seed, true, &profiles, &repairs, &examinations));
      }
    }
  }
  EXPECT_GT(steps, 1000u);
  EXPECT_GT(profiles, 50u);
  EXPECT_GT(repairs, 10u);
  EXPECT_GT(examinations, 10u);
}

TEST(ResumeTest, GarbageAndOtherVersionsAreDataLoss) {
  WorldModelStrategy strategy(TestContext(false, 5), FakeProposer());
  EXPECT_EQ(strategy.Restore("\xff\xff garbage").status().code(), absl::StatusCode::kDataLoss);
  v1::SearchState state;
  state.set_version(99);
  *state.mutable_world_model() = NewWorldModel();
  const auto other = strategy.Restore(state.SerializeAsString());
  EXPECT_EQ(other.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("version 99"));
  state.set_version(1);
  state.mutable_world_model()->clear_nodes();
  EXPECT_EQ(strategy.Restore(state.SerializeAsString()).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ksearch
