// Silence, restarts and reconnections: which worker still has a lease.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/scheduler/leasing_scheduler_fixture.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using LeaseRecoveryTest = LeasingSchedulerFixture;

TEST_F(LeaseRecoveryTest, LeaseExpiresWhenReportsStop) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  now_ += absl::Seconds(20);
  Sync("w1", Report(1, 0, {{lease, "a"}}));
  now_ += absl::Seconds(29);
  Tick();
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  now_ += absl::Seconds(1);
  Tick();
  EXPECT_THAT(ended_, ElementsAre("a lost"));
  EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
}

TEST_F(LeaseRecoveryTest, SilentWorkerGetsNothingUntilItReports) {
  Submit("a");
  Join("w1", 1);
  now_ += absl::Seconds(30);
  Tick();
  EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  EXPECT_EQ(Poll("w1").offers_size(), 0);
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
  EXPECT_EQ(Sync("w1", Report(1, 1)).offers_size(), 1);
}

TEST_F(LeaseRecoveryTest, DisconnectAloneLosesNothing) {
  Submit("a");
  Join("w1", 1);
  scheduler_->Disconnect("w1", "i1");
  Tick();
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
}

TEST_F(LeaseRecoveryTest, ReconnectedWorkerKeepsItsLease) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  scheduler_->Disconnect("w1", "i1");
  Hello("w1");
  const v1::WorkerDown down = Sync("w1", Report(0, 0, {{lease, "a"}}));
  EXPECT_EQ(down.cancel_lease_ids_size(), 0);
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(LeaseRecoveryTest, OfferLostWithItsStreamIsNoticedByTheNextSession) {
  Submit("a");
  Join("w1", 1);
  scheduler_->Disconnect("w1", "i1");
  Hello("w1");
  Sync("w1", Report(0, 1));
  EXPECT_THAT(ended_, ElementsAre("a lost"));
}

TEST_F(LeaseRecoveryTest, RestartedWorkerLosesItsRunningJobAtOnce) {
  Submit("a");
  Join("w1", 1);
  Join("w2", 0);
  scheduler_->Disconnect("w1", "i1");
  Hello("w1", "i2");
  Sync("w1", Report(0, 1));
  EXPECT_THAT(ended_, ElementsAre("a lost"));
  // w2 did not lose it and is preferred, but has no slot yet.
  EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  const v1::WorkerDown down = Sync("w2", Report(1, 1));
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(down.offers(0).attempt(), 2);
}

TEST_F(LeaseRecoveryTest, SpooledResultSurvivesTheWorkersRestart) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  Hello("w1", "i2");
  Sync("w1", Report(0, 1, {{lease, "a", v1::HeldLease::FINISHED}}));
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(LeaseRecoveryTest, RestartedCoordinatorTakesLeasesBack) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  Restart("e2");
  Submit("a", 1);
  Hello("w1");
  const v1::WorkerDown down = Sync("w1", Report(0, 0, {{lease, "a"}}));
  EXPECT_EQ(down.cancel_lease_ids_size(), 0);
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_EQ(scheduler_->State("a").worker_id, "w1");
}

TEST_F(LeaseRecoveryTest, TriedJobWaitsForItsOldWorkerAfterACoordinatorRestart) {
  Join("w2", 1);
  Submit("a", 1);
  EXPECT_EQ(Poll("w2").offers_size(), 0);
  now_ += absl::Seconds(2);
  Tick();
  EXPECT_THAT(woken_, ElementsAre("w2"));
  const v1::WorkerDown down = Poll("w2");
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(down.offers(0).attempt(), 2);
}

TEST_F(LeaseRecoveryTest, UnknownLeaseOfADoneOrUnknownJobIsCancelled) {
  Submit("a");
  Keep(scheduler_->MarkDone("a", ""));
  Hello("w1");
  const v1::WorkerDown down =
      Sync("w1", Report(0, 0, {{"x", "a"}, {"y", "b"}, {"z", "b", v1::HeldLease::FINISHED}}));
  EXPECT_THAT(down.cancel_lease_ids(), ElementsAre("x", "y"));
}

TEST_F(LeaseRecoveryTest, UnknownLeaseOfAJobLeasedElsewhereIsCancelled) {
  Submit("a");
  Join("w1", 1);
  Hello("w2");
  const v1::WorkerDown down = Sync("w2", Report(0, 0, {{"old", "a"}}));
  EXPECT_THAT(down.cancel_lease_ids(), ElementsAre("old"));
  EXPECT_EQ(scheduler_->State("a").worker_id, "w1");
}

TEST_F(LeaseRecoveryTest, ExpiredLeaseIsTakenBackIfItsWorkerComesBackFirst) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  for (int partition = 0; partition < 5; ++partition) {
    now_ += absl::Seconds(30);
    Tick();
    EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
    Sync("w1", Report(1, 0, {{lease, "a"}}));
    EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  }
  // A loss that was undone does not count.
  EXPECT_THAT(given_up_, IsEmpty());
}

}  // namespace
}  // namespace ksearch
