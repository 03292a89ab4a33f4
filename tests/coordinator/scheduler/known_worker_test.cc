#include "coordinator/scheduler/known_worker.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

v1::WorkerReport Report(int64_t applied, int free_slots) {
  v1::WorkerReport report;
  report.set_applied_directive_seq(applied);
  report.set_free_slots(free_slots);
  return report;
}

TEST(KnownWorkerTest, OffersOnTheirWayAreSubtractedUntilCovered) {
  KnownWorker worker;
  worker.BeginSession(v1::WorkerHello(), kStart);
  EXPECT_EQ(worker.credits(), 0);
  worker.Apply(Report(0, 3), kStart);
  EXPECT_EQ(worker.credits(), 3);
  worker.CountOffers(worker.NextDirectiveSeq(), 2);
  EXPECT_EQ(worker.credits(), 1);
  worker.Apply(Report(0, 3), kStart);  // crossed the directive
  EXPECT_EQ(worker.credits(), 1);
  worker.Apply(Report(1, 1), kStart);
  EXPECT_EQ(worker.credits(), 1);
}

TEST(KnownWorkerTest, CreditsAreNeverNegative) {
  KnownWorker worker;
  worker.BeginSession(v1::WorkerHello(), kStart);
  worker.Apply(Report(0, 1), kStart);
  worker.CountOffers(worker.NextDirectiveSeq(), 1);
  worker.Apply(Report(0, 0), kStart);
  EXPECT_EQ(worker.credits(), 0);
}

TEST(KnownWorkerTest, OvertakenReportIsNotCurrentAndClaimsAreClamped) {
  KnownWorker worker;
  worker.BeginSession(v1::WorkerHello(), kStart);
  worker.NextDirectiveSeq();
  worker.NextDirectiveSeq();
  worker.Apply(Report(2, 1), kStart);
  EXPECT_FALSE(worker.IsCurrent(Report(1, 1)));
  EXPECT_TRUE(worker.IsCurrent(Report(2, 1)));
  EXPECT_EQ(worker.AppliedSeq(Report(99, 1)), 2);
}

TEST(KnownWorkerTest, UnhealthyDrainingOrLeavingIsNotWilling) {
  KnownWorker worker;
  EXPECT_FALSE(worker.willing());
  worker.BeginSession(v1::WorkerHello(), kStart);
  worker.Apply(Report(0, 1), kStart);
  EXPECT_TRUE(worker.willing());
  v1::WorkerReport sick = Report(0, 1);
  sick.mutable_health()->set_healthy(false);
  worker.Apply(sick, kStart);
  EXPECT_FALSE(worker.willing());
  v1::WorkerReport leaving = Report(0, 1);
  leaving.set_draining(true);
  worker.Apply(leaving, kStart);
  EXPECT_FALSE(worker.willing());
  worker.Apply(Report(0, 1), kStart);
  worker.drain = true;
  EXPECT_FALSE(worker.willing());
}

TEST(KnownWorkerTest, RestartTakesItBackIntoService) {
  v1::WorkerHello hello;
  hello.set_incarnation("one");
  KnownWorker worker;
  worker.BeginSession(hello, kStart);
  worker.drain = true;
  worker.BeginSession(hello, kStart);
  EXPECT_TRUE(worker.drain);
  hello.set_incarnation("two");
  worker.BeginSession(hello, kStart);
  EXPECT_FALSE(worker.drain);
}

TEST(KnownWorkerTest, ReturningJobAfterJobMeansResting) {
  KnownWorker worker;
  worker.BeginSession(v1::WorkerHello(), kStart);
  worker.Apply(Report(0, 1), kStart);
  worker.CountReturn("a", kStart);
  EXPECT_TRUE(worker.MayTakeAt(kStart));
  worker.CountReturn("b", kStart);
  EXPECT_FALSE(worker.MayTakeAt(kStart));
  EXPECT_TRUE(worker.MayTakeAt(kStart + absl::Seconds(1)));
  worker.CountReturn("c", kStart);
  EXPECT_FALSE(worker.MayTakeAt(kStart + absl::Seconds(1)));
  worker.CountResult();
  worker.CountReturn("d", kStart + absl::Seconds(10));
  EXPECT_TRUE(worker.MayTakeAt(kStart + absl::Seconds(10)));
}

TEST(KnownWorkerTest, OneJobThatComesBackAgainAndAgainRestsNobody) {
  KnownWorker worker;
  worker.BeginSession(v1::WorkerHello(), kStart);
  worker.Apply(Report(0, 1), kStart);
  for (int i = 0; i < 5; ++i) worker.CountReturn("a", kStart);
  EXPECT_TRUE(worker.MayTakeAt(kStart));
  worker.CountReturn("b", kStart);
  EXPECT_FALSE(worker.MayTakeAt(kStart));
  worker.CountReturn("b", kStart + absl::Seconds(1));
  EXPECT_TRUE(worker.MayTakeAt(kStart + absl::Seconds(1)));
}

TEST(KnownWorkerTest, ReturnDelayGrowsToAMinute) {
  EXPECT_EQ(ReturnDelay(1), absl::Seconds(1));
  EXPECT_EQ(ReturnDelay(3), absl::Seconds(4));
  EXPECT_EQ(ReturnDelay(100), absl::Minutes(1));
}

}  // namespace
}  // namespace ksearch
