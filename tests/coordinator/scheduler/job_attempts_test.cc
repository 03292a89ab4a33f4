// Jobs that come back: returned by workers, or lost with them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/scheduler/leasing_scheduler_fixture.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class JobAttemptsTest : public LeasingSchedulerFixture {
 protected:
  // How often one worker with one slot returns the remaining ones of 20 jobs, in ten seconds.
  int ReturnAll() {
    for (int i = 0; i < 20; ++i) Submit(absl::StrCat("job", i));
    v1::WorkerDown down = Join("w1", 1);
    int returned = 0;
    for (int tenth = 0; tenth < 100; ++tenth) {
      while (down.offers_size() > 0) {
        ++returned;
        down = Sync("w1", Report(down.directive_seq(), 1,
                                 {{down.offers(0).lease_id(), down.offers(0).job_id(),
                                   v1::HeldLease::RETURNED, "broken"}}));
      }
      now_ += absl::Milliseconds(100);
      Tick();
      down = Poll("w1");
    }
    return returned;
  }
};

TEST_F(JobAttemptsTest, ReturnedLeaseIsSettledAndGoesToAnotherWorkerFirst) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  Join("w2", 0);
  const v1::WorkerDown down =
      Sync("w1", Report(1, 1, {{lease, "a", v1::HeldLease::RETURNED, "no disk"}}));
  EXPECT_THAT(down.settled_lease_ids(), ElementsAre(lease));
  EXPECT_EQ(down.offers_size(), 0);
  EXPECT_THAT(ended_, ElementsAre("a returned"));
  EXPECT_EQ(Sync("w2", Report(1, 1)).offers_size(), 1);
}

TEST_F(JobAttemptsTest, ReturnedLeaseListedAgainIsOnlySettledAgain) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  const v1::WorkerReport report = Report(1, 1, {{lease, "a", v1::HeldLease::RETURNED, "no disk"}});
  Sync("w1", report);
  const v1::WorkerDown again = Sync("w1", report);
  EXPECT_THAT(again.settled_lease_ids(), ElementsAre(lease));
  EXPECT_THAT(ended_, ElementsAre("a returned"));
}

TEST_F(JobAttemptsTest, OnlyWorkerGetsItsReturnedJobAgainAfterAGrowingPause) {
  Submit("a");
  v1::WorkerDown down = Join("w1", 1);
  std::vector<absl::Duration> pauses;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(down.offers_size(), 1);
    const std::string lease = down.offers(0).lease_id();
    const int64_t seq = down.directive_seq();
    down = Sync("w1", Report(seq, 1, {{lease, "a", v1::HeldLease::RETURNED, "no disk", i + 1}}));
    ASSERT_EQ(down.offers_size(), 0);
    Sync("w1", Report(down.directive_seq(), 1));
    const absl::Time returned_at = now_;
    do {
      now_ += absl::Milliseconds(100);
      Tick();
      down = Poll("w1");
    } while (down.offers_size() == 0 && now_ - returned_at < absl::Minutes(5));
    pauses.push_back(now_ - returned_at);
  }
  EXPECT_THAT(pauses,
              ElementsAre(absl::Seconds(1), absl::Seconds(2), absl::Seconds(4), absl::Seconds(8)));
}

TEST_F(JobAttemptsTest, JobReturnedForEverIsGivenUp) {
  Submit("a");
  v1::WorkerDown down = Join("w1", 1);
  int offers = 0;
  for (int minute = 0; minute < 60 && given_up_.empty(); ++minute) {
    if (down.offers_size() == 1) {
      ++offers;
      down = Sync("w1", Report(down.directive_seq(), 1,
                               {{down.offers(0).lease_id(), "a", v1::HeldLease::RETURNED,
                                 "no such blob", offers}}));
      Sync("w1", Report(down.directive_seq(), 1));
    }
    now_ += absl::Minutes(1);
    Tick();
    down = Poll("w1");
  }
  ASSERT_EQ(given_up_.size(), 1u);
  EXPECT_EQ(offers, 3 * JobScheduler::kReturnsPerAttempt);
  EXPECT_EQ(given_up_[0].note, "returned by w1: no such blob");
}

TEST_F(JobAttemptsTest, JobThatLosesItsWorkersIsGivenUpOnce) {
  Submit("a");
  v1::WorkerDown down = Join("w1", 1);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_EQ(down.offers_size(), 1);
    EXPECT_EQ(down.offers(0).attempt(), attempt);
    Hello("w1", absl::StrCat("after", attempt));
    down = Sync("w1", Report(0, 1));
  }
  ASSERT_EQ(given_up_.size(), 1u);
  EXPECT_EQ(given_up_[0].job_id, "a");
  EXPECT_EQ(given_up_[0].attempts, 3);
  EXPECT_EQ(down.offers_size(), 0);
  EXPECT_EQ(PhaseOf("a"), Phase::kDone);
  Tick();
  EXPECT_EQ(given_up_.size(), 1u);
}

TEST_F(JobAttemptsTest, AttemptsOfAnEarlierLifeCount) {
  Submit("a", 2);
  now_ += absl::Seconds(2);
  const v1::WorkerDown down = Join("w1", 1);
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(down.offers(0).attempt(), 3);
  Hello("w1", "i2");
  Sync("w1", Report(0, 1));
  EXPECT_EQ(given_up_.size(), 1u);
}

TEST_F(JobAttemptsTest, LoserIsPassedOverWhileAnotherWorkerCouldTakeIt) {
  Submit("a");
  Join("w1", 1);
  Join("w2", 0);
  Hello("w1", "i2");
  EXPECT_EQ(Sync("w1", Report(0, 1)).offers_size(), 0);
  // The other worker leaves: w1 is better than none.
  scheduler_->Disconnect("w2", "i1");
  Tick();
  EXPECT_THAT(woken_, ElementsAre("w1"));
  EXPECT_EQ(Poll("w1").offers_size(), 1);
}

TEST_F(JobAttemptsTest, FullyLoadedRivalCannotKeepAJobWaitingForEver) {
  Submit("a");
  Join("w1", 1);
  Join("w2", 0);
  Hello("w1", "i2");
  Sync("w1", Report(0, 1));
  now_ += absl::Minutes(2);
  EXPECT_EQ(Sync("w1", Report(1, 1)).offers_size(), 1);
}

TEST_F(JobAttemptsTest, WorkerThatReturnsJobAfterJobRests) {
  // Their task has worked somewhere.
  v1::JobResult passed;
  passed.set_outcome(v1::OUTCOME_PASSED);
  scheduler_->RememberResult(Spec(), passed);
  // At 0, 0, 1, 3 and 7 s, and once more a job that had just come back.
  EXPECT_EQ(ReturnAll(), 6);
}

TEST_F(JobAttemptsTest, NobodyRestsForATaskThatHasNeverWorked) {
  // Each at 0, 1, 3 and 7 s: only the job itself is held back.
  EXPECT_EQ(ReturnAll(), 20 * 4);
}

}  // namespace
}  // namespace ksearch
