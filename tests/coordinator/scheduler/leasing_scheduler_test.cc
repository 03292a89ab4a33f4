#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Phase = JobState::Phase;

struct Held {
  std::string lease_id;
  std::string job_id;
  v1::HeldLease::State state = v1::HeldLease::RUNNING;
  std::string returned = {};
  int attempt = 1;
};

v1::WorkerReport Report(int64_t applied, int free_slots, std::initializer_list<Held> leases = {}) {
  v1::WorkerReport report;
  report.set_applied_directive_seq(applied);
  report.set_free_slots(free_slots);
  for (const Held& held : leases) {
    v1::HeldLease* lease = report.add_leases();
    lease->set_lease_id(held.lease_id);
    lease->set_job_id(held.job_id);
    lease->set_state(held.state);
    lease->set_returned(held.returned);
    lease->set_attempt(held.attempt);
  }
  return report;
}

v1::JobSpec Spec(v1::Language language = v1::LANGUAGE_CPP) {
  v1::JobSpec spec;
  spec.set_device(v1::DEVICE_CLASS_CPU);
  spec.mutable_candidate()->set_language(language);
  return spec;
}

class LeasingSchedulerTest : public ::testing::Test {
 protected:
  LeasingSchedulerTest() { Restart("e1"); }

  void Restart(const std::string& epoch) {
    JobScheduler::Options options;
    options.epoch = epoch;
    scheduler_ = MakeJobScheduler(options);
  }
  void Hello(const std::string& worker, const std::string& incarnation = "i1") {
    v1::WorkerHello hello;
    hello.set_worker_id(worker);
    hello.set_incarnation(incarnation);
    v1::DeviceCapability* device = hello.add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CPU);
    device->add_languages(v1::LANGUAGE_CPP);
    Keep(scheduler_->Hello(hello, now_));
  }
  v1::WorkerDown Sync(const std::string& worker, const v1::WorkerReport& report) {
    v1::WorkerDown down;
    Keep(scheduler_->Sync(worker, report, now_, &down));
    return down;
  }
  // Joins with an empty first report.
  v1::WorkerDown Join(const std::string& worker, int slots) {
    Hello(worker);
    return Sync(worker, Report(0, slots));
  }
  v1::WorkerDown Poll(const std::string& worker) {
    v1::WorkerDown down;
    SchedulerEffects effects;
    if (!scheduler_->Poll(worker, now_, &down, &effects)) down.Clear();
    Keep(std::move(effects));
    return down;
  }
  void Submit(const std::string& job, int attempts = 0) {
    Keep(scheduler_->Submit(job, Spec(), attempts, now_));
  }
  void Tick() { Keep(scheduler_->Tick(now_)); }
  void Keep(SchedulerEffects effects) {
    for (auto& ended : effects.ended)
      ended_.push_back(absl::StrCat(ended.job_id, " ", ended.ended));
    for (auto& job : effects.worker_lost_jobs) given_up_.push_back(job);
    started_ += static_cast<int>(effects.started.size());
    woken_ = effects.workers_to_wake;
  }
  Phase PhaseOf(const std::string& job) { return scheduler_->State(job).phase; }

  std::unique_ptr<JobScheduler> scheduler_;
  absl::Time now_ = absl::UnixEpoch();
  std::vector<std::string> ended_;
  std::vector<GivenUp> given_up_;
  std::vector<std::string> woken_;
  int started_ = 0;
};

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

TEST_F(LeasingSchedulerTest, LeaseExpiresWhenReportsStop) {
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

TEST_F(LeasingSchedulerTest, SilentWorkerGetsNothingUntilItReports) {
  Submit("a");
  Join("w1", 1);
  now_ += absl::Seconds(30);
  Tick();
  EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  EXPECT_EQ(Poll("w1").offers_size(), 0);
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
  EXPECT_EQ(Sync("w1", Report(1, 1)).offers_size(), 1);
}

TEST_F(LeasingSchedulerTest, DisconnectAloneLosesNothing) {
  Submit("a");
  Join("w1", 1);
  scheduler_->Disconnect("w1", "i1");
  Tick();
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
}

TEST_F(LeasingSchedulerTest, ReconnectedWorkerKeepsItsLease) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  scheduler_->Disconnect("w1", "i1");
  Hello("w1");
  const v1::WorkerDown down = Sync("w1", Report(0, 0, {{lease, "a"}}));
  EXPECT_EQ(down.cancel_lease_ids_size(), 0);
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(LeasingSchedulerTest, OfferLostWithItsStreamIsNoticedByTheNextSession) {
  Submit("a");
  Join("w1", 1);
  scheduler_->Disconnect("w1", "i1");
  Hello("w1");
  Sync("w1", Report(0, 1));
  EXPECT_THAT(ended_, ElementsAre("a lost"));
}

TEST_F(LeasingSchedulerTest, RestartedWorkerLosesItsRunningJobAtOnce) {
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

TEST_F(LeasingSchedulerTest, SpooledResultSurvivesTheWorkersRestart) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  Hello("w1", "i2");
  Sync("w1", Report(0, 1, {{lease, "a", v1::HeldLease::FINISHED}}));
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(LeasingSchedulerTest, RestartedCoordinatorTakesLeasesBack) {
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

TEST_F(LeasingSchedulerTest, TriedJobWaitsForItsOldWorkerAfterACoordinatorRestart) {
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

TEST_F(LeasingSchedulerTest, UnknownLeaseOfADoneOrUnknownJobIsCancelled) {
  Submit("a");
  Keep(scheduler_->MarkDone("a", ""));
  Hello("w1");
  const v1::WorkerDown down =
      Sync("w1", Report(0, 0, {{"x", "a"}, {"y", "b"}, {"z", "b", v1::HeldLease::FINISHED}}));
  EXPECT_THAT(down.cancel_lease_ids(), ElementsAre("x", "y"));
}

TEST_F(LeasingSchedulerTest, UnknownLeaseOfAJobLeasedElsewhereIsCancelled) {
  Submit("a");
  Join("w1", 1);
  Hello("w2");
  const v1::WorkerDown down = Sync("w2", Report(0, 0, {{"old", "a"}}));
  EXPECT_THAT(down.cancel_lease_ids(), ElementsAre("old"));
  EXPECT_EQ(scheduler_->State("a").worker_id, "w1");
}

TEST_F(LeasingSchedulerTest, ExpiredLeaseIsTakenBackIfItsWorkerComesBackFirst) {
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

TEST_F(LeasingSchedulerTest, ReturnedLeaseIsSettledAndGoesToAnotherWorkerFirst) {
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

TEST_F(LeasingSchedulerTest, ReturnedLeaseListedAgainIsOnlySettledAgain) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  const v1::WorkerReport report = Report(1, 1, {{lease, "a", v1::HeldLease::RETURNED, "no disk"}});
  Sync("w1", report);
  const v1::WorkerDown again = Sync("w1", report);
  EXPECT_THAT(again.settled_lease_ids(), ElementsAre(lease));
  EXPECT_THAT(ended_, ElementsAre("a returned"));
}

TEST_F(LeasingSchedulerTest, OnlyWorkerGetsItsReturnedJobAgainAfterAGrowingPause) {
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

TEST_F(LeasingSchedulerTest, JobReturnedForEverIsGivenUp) {
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

TEST_F(LeasingSchedulerTest, JobThatLosesItsWorkersIsGivenUpOnce) {
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

TEST_F(LeasingSchedulerTest, AttemptsOfAnEarlierLifeCount) {
  Submit("a", 2);
  now_ += absl::Seconds(2);
  const v1::WorkerDown down = Join("w1", 1);
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(down.offers(0).attempt(), 3);
  Hello("w1", "i2");
  Sync("w1", Report(0, 1));
  EXPECT_EQ(given_up_.size(), 1u);
}

TEST_F(LeasingSchedulerTest, LoserIsPassedOverWhileAnotherWorkerCouldTakeIt) {
  Submit("a");
  Join("w1", 1);
  Join("w2", 0);
  Hello("w1", "i2");
  EXPECT_EQ(Sync("w1", Report(0, 1)).offers_size(), 0);
  // The other one leaves: w1 is better than nobody.
  scheduler_->Disconnect("w2", "i1");
  Tick();
  EXPECT_THAT(woken_, ElementsAre("w1"));
  EXPECT_EQ(Poll("w1").offers_size(), 1);
}

TEST_F(LeasingSchedulerTest, FullyLoadedRivalCannotKeepAJobWaitingForEver) {
  Submit("a");
  Join("w1", 1);
  Join("w2", 0);
  Hello("w1", "i2");
  Sync("w1", Report(0, 1));
  now_ += absl::Minutes(2);
  EXPECT_EQ(Sync("w1", Report(1, 1)).offers_size(), 1);
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
  scheduler_->Drain("w1");
  const v1::WorkerDown down = Poll("w1");
  EXPECT_TRUE(down.drain());
  EXPECT_EQ(Poll("w1").directive_seq(), 0);
  Submit("a");
  EXPECT_THAT(woken_, IsEmpty());
  EXPECT_EQ(Sync("w1", Report(2, 1)).offers_size(), 0);
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
  // The wish outlives the session.
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

TEST_F(LeasingSchedulerTest, WorkerThatReturnsJobAfterJobRests) {
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
  // At 0, 0, 1, 3 and 7 s.
  EXPECT_EQ(returned, 5);
}

}  // namespace
}  // namespace ksearch
