#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/scheduler/leasing_scheduler_fixture.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using LeasingSchedulerTest = LeasingSchedulerFixture;

TEST_F(LeasingSchedulerTest, JobGoesFromQueuedToLeasedToDone) {
  Submit("a");
  EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  EXPECT_EQ(scheduler_->queued(), 1);
  const v1::WorkerDown down = Join("w1", 1);
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(down.offers(0).job_id(), "a");
  EXPECT_EQ(down.offers(0).attempt(), 1);
  EXPECT_EQ(down.offers(0).ttl().seconds(), 30);
  EXPECT_EQ(down.directive_seq(), 1);
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_EQ(scheduler_->State("a").worker_id, "w1");
  const std::string lease = down.offers(0).lease_id();
  Sync("w1", Report(1, 0, {{lease, "a", v1::HeldLease::BUILDING}}));
  EXPECT_EQ(scheduler_->State("a").lease_state, v1::HeldLease::BUILDING);
  Keep(scheduler_->MarkDone("a", lease));
  EXPECT_EQ(PhaseOf("a"), Phase::kDone);
  EXPECT_EQ(scheduler_->leased(), 0);
  EXPECT_EQ(started_, 1);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(LeasingSchedulerTest, FirstReportIsAlwaysAnswered) {
  const v1::WorkerDown down = Join("w1", 1);
  EXPECT_EQ(down.directive_seq(), 1);
  EXPECT_GE(down.report_within().seconds() * 1e9 + down.report_within().nanos(), 8e9);
  EXPECT_LE(down.report_within().seconds() * 1e9 + down.report_within().nanos(), 10e9);
  EXPECT_EQ(Sync("w1", Report(1, 1)).directive_seq(), 0);
}

TEST_F(LeasingSchedulerTest, OldestJobsFirstAndNoMoreThanCredits) {
  for (const char* job : {"a", "b", "c"}) Submit(job);
  const v1::WorkerDown down = Join("w1", 2);
  ASSERT_EQ(down.offers_size(), 2);
  EXPECT_EQ(down.offers(0).job_id(), "a");
  EXPECT_EQ(down.offers(1).job_id(), "b");
}

TEST_F(LeasingSchedulerTest, ReportThatCrossedAnOfferGivesNoCreditsTwiceAndLosesNothing) {
  Join("w1", 1);
  Submit("a");
  EXPECT_THAT(woken_, ElementsAre("w1"));
  const v1::WorkerDown offer = Poll("w1");
  ASSERT_EQ(offer.offers_size(), 1);
  Submit("b");
  // Written before the offer arrived.
  EXPECT_EQ(Sync("w1", Report(1, 1)).offers_size(), 0);
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_EQ(PhaseOf("b"), Phase::kQueued);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(LeasingSchedulerTest, LeaseMissingFromACoveringReportIsLostAtOnce) {
  Submit("a");
  Join("w1", 1);
  Sync("w1", Report(1, 1));
  EXPECT_THAT(ended_, ElementsAre("a lost"));
}

TEST_F(LeasingSchedulerTest, CancelledQueuedJobIsNeverOffered) {
  Submit("a");
  Keep(scheduler_->Cancel("a"));
  EXPECT_EQ(PhaseOf("a"), Phase::kUnknown);
  EXPECT_EQ(Join("w1", 1).offers_size(), 0);
}

TEST_F(LeasingSchedulerTest, CancelReachesTheWorkerUntilItObeys) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  Sync("w1", Report(1, 0, {{lease, "a"}}));
  Keep(scheduler_->Cancel("a"));
  EXPECT_THAT(ended_, ElementsAre("a cancelled"));
  EXPECT_THAT(woken_, ElementsAre("w1"));
  EXPECT_THAT(Poll("w1").cancel_lease_ids(), ElementsAre(lease));
  EXPECT_EQ(Poll("w1").directive_seq(), 0);
  EXPECT_THAT(Sync("w1", Report(1, 0, {{lease, "a"}})).cancel_lease_ids(), ElementsAre(lease));
  EXPECT_EQ(Sync("w1", Report(3, 1)).directive_seq(), 0);
  EXPECT_THAT(ended_, ElementsAre("a cancelled"));
}

TEST_F(LeasingSchedulerTest, CancelledJobCanBeSubmittedAnew) {
  Submit("a");
  const std::string old_lease = Join("w1", 2).offers(0).lease_id();
  Keep(scheduler_->Cancel("a"));
  Submit("a");
  const v1::WorkerDown down = Poll("w1");
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_NE(down.offers(0).lease_id(), old_lease);
  EXPECT_THAT(down.cancel_lease_ids(), ElementsAre(old_lease));
}

TEST_F(LeasingSchedulerTest, LateResultEndsAQueuedJob) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  now_ += absl::Seconds(30);
  Tick();
  EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  Keep(scheduler_->MarkDone("a", lease));
  EXPECT_EQ(PhaseOf("a"), Phase::kDone);
  EXPECT_EQ(scheduler_->queued(), 0);
}

TEST_F(LeasingSchedulerTest, LateResultCancelsTheAttemptThatReplacedIt) {
  Submit("a");
  const std::string first = Join("w1", 1).offers(0).lease_id();
  now_ += absl::Seconds(30);
  Tick();
  const std::string second = Join("w2", 1).offers(0).lease_id();
  Keep(scheduler_->MarkDone("a", first));
  EXPECT_THAT(ended_, ElementsAre("a lost", "a cancelled"));
  EXPECT_THAT(Poll("w2").cancel_lease_ids(), ElementsAre(second));
}

TEST_F(LeasingSchedulerTest, SubmittingAKnownOrDoneJobChangesNothing) {
  Submit("a");
  Submit("a");
  EXPECT_EQ(scheduler_->queued(), 1);
  Keep(scheduler_->MarkDone("a", ""));
  Submit("a");
  EXPECT_EQ(scheduler_->queued(), 0);
}

TEST_F(LeasingSchedulerTest, DrainingWorkerIsToldAndGetsNothing) {
  Join("w1", 1);
  scheduler_->Drain("w1", std::nullopt);
  const v1::WorkerDown down = Poll("w1");
  EXPECT_TRUE(down.drain());
  EXPECT_EQ(Poll("w1").directive_seq(), 0);
  Submit("a");
  EXPECT_THAT(woken_, IsEmpty());
  EXPECT_EQ(Sync("w1", Report(2, 1)).offers_size(), 0);
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
  // The preference outlives the session.
  Hello("w1");
  EXPECT_TRUE(Sync("w1", Report(0, 1)).drain());
}

TEST_F(LeasingSchedulerTest, UnhealthyWorkerGetsNothing) {
  Submit("a");
  Hello("w1");
  v1::WorkerReport report = Report(0, 1);
  report.mutable_health()->set_healthy(false);
  EXPECT_EQ(Sync("w1", report).offers_size(), 0);
  report.mutable_health()->set_healthy(true);
  EXPECT_EQ(Sync("w1", report).offers_size(), 1);
}

TEST_F(LeasingSchedulerTest, JobsAreSpreadOverIdleWorkers) {
  Join("w1", 2);
  Join("w2", 2);
  Submit("a");
  Submit("b");
  const v1::WorkerDown first = Poll("w1");
  ASSERT_EQ(first.offers_size(), 1);
  EXPECT_THAT(woken_, ElementsAre("w2"));
  const v1::WorkerDown second = Poll("w2");
  ASSERT_EQ(second.offers_size(), 1);
  EXPECT_EQ(second.offers(0).job_id(), "b");
}

TEST_F(LeasingSchedulerTest, OvertakenReportChangesNothing) {
  Submit("a");
  const std::string lease = Join("w1", 2).offers(0).lease_id();
  Sync("w1", Report(1, 1, {{lease, "a"}}));
  Submit("b");
  EXPECT_EQ(Poll("w1").offers_size(), 1);
  EXPECT_EQ(Sync("w1", Report(0, 2)).directive_seq(), 0);
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_EQ(PhaseOf("b"), Phase::kLeased);
}

TEST_F(LeasingSchedulerTest, StreamsOfUnknownOrDisconnectedWorkersAreIgnored) {
  Submit("a");
  EXPECT_EQ(Sync("nobody", Report(0, 1)).directive_seq(), 0);
  Join("w1", 0);
  scheduler_->Disconnect("w1", "another incarnation");
  EXPECT_EQ(Sync("w1", Report(1, 1)).offers_size(), 1);
}

TEST_F(LeasingSchedulerTest, JobNobodyCanRunWaits) {
  Keep(scheduler_->Submit("cuda", Spec(v1::LANGUAGE_CUDA), 0, now_));
  Submit("cpp");
  const v1::WorkerDown down = Join("w1", 2);
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(down.offers(0).job_id(), "cpp");
  EXPECT_TRUE(scheduler_->CanPlace(Spec()));
  EXPECT_FALSE(scheduler_->CanPlace(Spec(v1::LANGUAGE_CUDA)));
}

TEST_F(LeasingSchedulerTest, AJobThatAvoidsADeviceGoesToAnother) {
  Hello("w1", "i1", "GPU-1");
  Sync("w1", Report(0, 1));
  Hello("w2", "i1", "GPU-2");
  Sync("w2", Report(0, 0));  // busy
  v1::JobSpec spec = Spec();
  spec.set_avoid_device_id("GPU-1");
  Keep(scheduler_->Submit("again", spec, 0, now_));
  EXPECT_EQ(Poll("w1").offers_size(), 0);
  EXPECT_EQ(Sync("w2", Report(1, 1)).offers_size(), 1);
  // If there is no other worker, it is only a preference.
  Keep(scheduler_->Submit("once more", spec, 0, now_));
  scheduler_->Disconnect("w2", "i1");
  EXPECT_EQ(Poll("w1").offers_size(), 1);
}

}  // namespace
}  // namespace ksearch
