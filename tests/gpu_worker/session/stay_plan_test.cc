#include "gpu_worker/session/stay_plan.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

TEST(StayPlanTest, WithoutAnEndItStaysAsLongAsItIsWanted) {
  StayPlan plan({}, kStart);
  const StayPlan::Step step = plan.Next(kStart + absl::Hours(1000), /*busy=*/false, 0);
  EXPECT_FALSE(step.leave);
  EXPECT_EQ(step.time_left, absl::InfiniteDuration());
  EXPECT_EQ(step.next, absl::InfiniteFuture());
}

TEST(StayPlanTest, AtTheEndOfItsLifetimeItLeavesFirstAndThenGivesBack) {
  StayPlan plan({.lifetime = absl::Hours(1), .end_of_life = "its Slurm job ends"}, kStart);
  StayPlan::Step step = plan.Next(kStart, true, 0);
  EXPECT_FALSE(step.leave);
  // 10 s are reserved for the handover.
  EXPECT_EQ(step.time_left, absl::Minutes(59) + absl::Seconds(50));
  EXPECT_EQ(step.next, kStart + absl::Minutes(58) + absl::Seconds(50));
  step = plan.Next(step.next, true, 3);
  EXPECT_TRUE(step.leave);
  EXPECT_FALSE(step.give_back);
  EXPECT_EQ(step.why, "its Slurm job ends");
  EXPECT_EQ(step.time_left, absl::Minutes(1));
  step = plan.Next(step.next, true, 3);
  EXPECT_TRUE(step.give_back);
  EXPECT_EQ(step.time_left, absl::ZeroDuration());
}

TEST(StayPlanTest, AShortLifeHasAShortGrace) {
  StayPlan plan({.lifetime = absl::Seconds(40)}, kStart);
  const StayPlan::Step step = plan.Next(kStart, false, 0);
  EXPECT_FALSE(step.leave);
  EXPECT_EQ(step.time_left, absl::Seconds(36));
  EXPECT_EQ(step.next, kStart + absl::Seconds(26));
}

TEST(StayPlanTest, IdleTimeCountsFromTheLastJobHoweverShort) {
  StayPlan plan({.idle_timeout = absl::Minutes(5)}, kStart);
  EXPECT_FALSE(plan.Next(kStart + absl::Minutes(4), false, 0).leave);
  // A job started and ended between two calls of Next.
  EXPECT_FALSE(plan.Next(kStart + absl::Minutes(6), false, 1).leave);
  EXPECT_FALSE(plan.Next(kStart + absl::Minutes(10), true, 2).leave);
  EXPECT_EQ(plan.Next(kStart + absl::Minutes(12), false, 2).next, kStart + absl::Minutes(15));
  const StayPlan::Step step = plan.Next(kStart + absl::Minutes(15), false, 2);
  EXPECT_TRUE(step.leave);
  EXPECT_EQ(step.why, "it had no job for 5m");
}

TEST(StayPlanTest, TheFirstReasonStaysAndTheEarliestEndCounts) {
  StayPlan plan({.lifetime = absl::Hours(1)}, kStart);
  plan.Leave("somebody asked", std::nullopt, kStart);
  plan.Leave("somebody was in a hurry", absl::Seconds(5), kStart);
  plan.Leave("somebody was not", absl::Minutes(10), kStart);
  StayPlan::Step step = plan.Next(kStart, true, 0);
  EXPECT_EQ(step.why, "somebody asked");
  EXPECT_FALSE(step.give_back);
  EXPECT_EQ(step.next, kStart + absl::Seconds(5));
  EXPECT_TRUE(plan.Next(kStart + absl::Seconds(5), true, 0).give_back);
}

TEST(StayPlanTest, ALongGraceDoesNotOutliveTheLifetime) {
  StayPlan plan({.lifetime = absl::Hours(1)}, kStart);
  plan.Leave("asked", absl::Hours(2), kStart);
  EXPECT_EQ(plan.Next(kStart, true, 0).time_left, absl::Minutes(59) + absl::Seconds(50));
}

}  // namespace
}  // namespace ksearch
