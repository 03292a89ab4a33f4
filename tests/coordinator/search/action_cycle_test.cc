#include "coordinator/search/action_cycle.h"

#include <gtest/gtest.h>

#include <vector>

namespace ksearch {
namespace {

// Returns the number of attempts after which the cycle is over, or -1 if all leave it unfinished.
int Length(const std::vector<AttemptOutcome>& outcomes, double base_score, int window) {
  v1::CycleProgress progress = NewCycleProgress(base_score);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (FoldAttempt(outcomes[i], window, &progress).stagnant) return static_cast<int>(i) + 1;
  }
  return -1;
}

constexpr AttemptOutcome kFail = {false, 0};
AttemptOutcome Pass(double score) { return {true, score}; }

TEST(ActionCycleTest, AllFailingLastsExactlyTheWindow) {
  EXPECT_EQ(Length({kFail, kFail, kFail, kFail, kFail}, -1, 3), 3);
  EXPECT_EQ(Length({kFail, kFail, kFail, kFail, kFail}, 2.0, 5), 5);
  EXPECT_EQ(Length({kFail}, -1, 0), 1);
}

TEST(ActionCycleTest, AlwaysImprovingDoesNotEnd) {
  std::vector<AttemptOutcome> outcomes;
  for (int i = 1; i <= 100; ++i) outcomes.push_back(Pass(i));
  EXPECT_EQ(Length(outcomes, -1, 3), -1);
  EXPECT_EQ(Length(outcomes, 0.5, 3), -1);
}

TEST(ActionCycleTest, ImprovingBelowTheBaseEndsAWindowAfterTheFirstPass) {
  // s2 counts from the first pass on, although every attempt is a new best.
  EXPECT_EQ(Length({Pass(0.1), Pass(0.2), Pass(0.3), Pass(0.4)}, 1.0, 3), 3);
  EXPECT_EQ(Length({kFail, kFail, Pass(0.1), Pass(0.2), Pass(0.3)}, 1.0, 3), 5);
}

TEST(ActionCycleTest, BeatingTheBaseResetsItsStreak) {
  EXPECT_EQ(Length({Pass(0.1), Pass(0.2), Pass(1.1), kFail, kFail, kFail}, 1.0, 3), 6);
}

TEST(ActionCycleTest, EqualScoresAreNoImprovement) {
  EXPECT_EQ(Length({Pass(1), Pass(1), Pass(1), Pass(1)}, -1, 3), 4);
  EXPECT_EQ(Length({Pass(1), Pass(1), Pass(1), Pass(1)}, 1.0, 3), 3);  // equal to the base: below
}

TEST(ActionCycleTest, FailuresCountAgainstTheBestToo) {
  EXPECT_EQ(Length({Pass(2), kFail, Pass(1), kFail}, -1, 3), 4);
}

TEST(ActionCycleTest, AScoreOfZeroIsAPass) {
  v1::CycleProgress progress = NewCycleProgress(-1);
  EXPECT_TRUE(FoldAttempt(Pass(0), 3, &progress).new_best);
  EXPECT_TRUE(progress.has_best());
}

TEST(ActionCycleTest, PromptKindsFollowTheTable) {
  v1::CycleProgress progress = NewCycleProgress(1.0);
  EXPECT_EQ(NextPromptKind(progress, true, false), CodePromptKind::kActionOnBase);
  EXPECT_EQ(NextPromptKind(progress, false, false), CodePromptKind::kActionFromSpec);
  FoldAttempt(kFail, 5, &progress);
  EXPECT_EQ(NextPromptKind(progress, true, true), CodePromptKind::kDebug);
  EXPECT_EQ(NextPromptKind(progress, false, true), CodePromptKind::kDebug);
  EXPECT_EQ(NextPromptKind(progress, true, false),
            CodePromptKind::kActionOnBase);  // no program yet
  FoldAttempt(Pass(0.5), 5, &progress);
  EXPECT_EQ(NextPromptKind(progress, true, true), CodePromptKind::kImprove);
  FoldAttempt(kFail, 5, &progress);
  EXPECT_EQ(NextPromptKind(progress, true, true), CodePromptKind::kImprove);
}

TEST(ActionCycleTest, BaseTurnsIntoTheCycleBestOnceThatIsBetter) {
  v1::CycleProgress progress = NewCycleProgress(1.0);
  EXPECT_FALSE(BaseIsCycleBest(progress));
  FoldAttempt(Pass(0.9), 5, &progress);
  EXPECT_FALSE(BaseIsCycleBest(progress));
  FoldAttempt(Pass(1.1), 5, &progress);
  EXPECT_TRUE(BaseIsCycleBest(progress));
  v1::CycleProgress from_spec = NewCycleProgress(-1);
  FoldAttempt(Pass(0.1), 5, &from_spec);
  EXPECT_TRUE(BaseIsCycleBest(from_spec));
}

}  // namespace
}  // namespace ksearch
