// Workers that leave: this is normal, and costs only the attempt.
#include <optional>

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/scheduler/leasing_scheduler_fixture.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeavingTest : public LeasingSchedulerFixture {
 protected:
  static v1::WorkerReport Draining(int64_t applied, std::initializer_list<Held> leases = {}) {
    v1::WorkerReport report = Report(applied, 0, leases);
    report.set_draining(true);
    for (v1::HeldLease& lease : *report.mutable_leases()) {
      if (lease.state() == v1::HeldLease::RETURNED) {
        lease.set_return_reason(v1::HeldLease::LEAVING);
      }
    }
    return report;
  }
  static v1::WorkerReport Staying(int64_t applied, int free_slots, absl::Duration time_left) {
    v1::WorkerReport report = Report(applied, free_slots);
    *report.mutable_time_left() = ToProto(time_left);
    return report;
  }
  // The result of a job that a worker has just been given.
  void End(const std::string& job, const std::string& lease, absl::Duration took) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_PASSED);
    *result.mutable_stage_times()->mutable_total() = ToProto(took);
    Keep(scheduler_->NoteResult(job, result));
    Keep(scheduler_->MarkDone(job, lease));
  }
};

TEST_F(LeavingTest, AJobThatLeavingWorkersReturnIsNeverGivenUp) {
  Submit("a");
  for (int i = 0; i < 50; ++i) {
    const std::string worker = absl::StrCat("w", i);
    const v1::WorkerDown down = Join(worker, 1);
    ASSERT_EQ(down.offers_size(), 1) << i;
    EXPECT_EQ(down.offers(0).attempt(), i + 1);
    Sync(worker, Draining(1, {{down.offers(0).lease_id(), "a", v1::HeldLease::RETURNED,
                               "the worker leaves"}}));
    EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  }
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(LeavingTest, AWorkerThatSaidThatItLeavesLosesNothing) {
  Submit("a");
  for (int i = 0; i < 10; ++i) {
    const std::string worker = absl::StrCat("w", i);
    const v1::WorkerDown down = Join(worker, 1);
    ASSERT_EQ(down.offers_size(), 1) << i;
    Sync(worker, Draining(1, {{down.offers(0).lease_id(), "a"}}));
    scheduler_->Disconnect(worker, "i1");
    now_ += absl::Minutes(1);
    Tick();
    EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  }
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(LeavingTest, NorDoesOneWhoseTimeWasUpOrThatCameBackFromLeaving) {
  Submit("a");
  for (int i = 0; i < 5; ++i) {
    const std::string worker = absl::StrCat("w", i);
    Hello(worker);
    const v1::WorkerDown down = Sync(worker, Staying(0, 1, absl::Minutes(3)));
    ASSERT_EQ(down.offers_size(), 1) << i;
    now_ += absl::Minutes(4);
    Tick();
    EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  }
  for (int i = 0; i < 5; ++i) {
    now_ += absl::Minutes(3);  // it gets this job last
    Hello("again", absl::StrCat(2 * i));
    const v1::WorkerDown down = Sync("again", Report(0, 1));
    ASSERT_EQ(down.offers_size(), 1) << i;
    Sync("again", Draining(1, {{down.offers(0).lease_id(), "a"}}));
    Hello("again", absl::StrCat(2 * i + 1));
    Sync("again", Report(0, 0));  // a new process, without the lease
    EXPECT_EQ(PhaseOf("a"), Phase::kQueued);
  }
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(LeavingTest, ALossThatDidNotCountIsNotTakenBackWhenTheLeaseComesBack) {
  Submit("a");
  const std::string lease = Join("w1", 1).offers(0).lease_id();
  Sync("w1", Draining(1, {{lease, "a"}}));
  now_ += absl::Minutes(1);
  Tick();
  ASSERT_THAT(ended_, ElementsAre("a lost"));
  Sync("w1", Draining(1, {{lease, "a"}}));
  EXPECT_EQ(PhaseOf("a"), Phase::kLeased);
  // Three losses still end the job, not four.
  Hello("w1", "i2");
  Sync("w1", Report(0, 0));
  Join("w1b", 0);
  for (int i = 0; i < 3; ++i) {
    const std::string worker = absl::StrCat("x", i);
    ASSERT_EQ(Join(worker, 1).offers_size(), 1);
    now_ += absl::Minutes(1);
    Tick();
  }
  EXPECT_EQ(given_up_.size(), 1u);
}

TEST_F(LeavingTest, LeavingDoesNotRestAWorker) {
  v1::WorkerDown down = Join("w1", 1);
  for (int i = 0; i < 5; ++i) {
    const std::string job = absl::StrCat("job", i);
    Submit(job);
    down = Poll("w1");
    ASSERT_EQ(down.offers_size(), 1) << i;
    v1::WorkerReport report =
        Report(down.directive_seq(), 1,
               {{down.offers(0).lease_id(), job, v1::HeldLease::RETURNED, "stays after all"}});
    report.mutable_leases(0)->set_return_reason(v1::HeldLease::LEAVING);
    EXPECT_EQ(Sync("w1", report).offers_size(), 0);  // not the same one at once
    Keep(scheduler_->Cancel(job));
  }
}

TEST_F(LeavingTest, NoJobIsOfferedThatWouldNotEndInTime) {
  Submit("a");
  Hello("short");
  EXPECT_EQ(Sync("short", Staying(0, 1, absl::Seconds(119))).offers_size(), 0);  // default: 2 min
  EXPECT_FALSE(scheduler_->CanPlace(Spec()));
  Hello("long");
  const v1::WorkerDown down = Sync("long", Staying(0, 1, absl::Seconds(121)));
  ASSERT_EQ(down.offers_size(), 1);
  EXPECT_EQ(FromProto(down.offers(0).expected_time()), absl::Minutes(2));
  End("a", down.offers(0).lease_id(), absl::Seconds(20));
  // Jobs of this task and kind are known to be short now.
  Submit("b");
  EXPECT_TRUE(scheduler_->CanPlace(Spec()));
  EXPECT_EQ(Sync("short", Staying(1, 1, absl::Seconds(30))).offers_size(), 1);
}

TEST_F(LeavingTest, TimePassesWithoutReports) {
  Hello("w1");
  Sync("w1", Staying(0, 1, absl::Minutes(5)));
  now_ += absl::Minutes(4);
  Submit("a");
  EXPECT_EQ(Poll("w1").offers_size(), 0);
}

TEST_F(LeavingTest, DrainCarriesItsGraceAndANewOneIsTold) {
  Join("w1", 1);
  scheduler_->Drain("w1", absl::Seconds(90));
  v1::WorkerDown down = Poll("w1");
  EXPECT_TRUE(down.drain());
  EXPECT_EQ(FromProto(down.drain_grace()), absl::Seconds(90));
  EXPECT_FALSE(Poll("w1").drain());  // told once
  scheduler_->Drain("w1", absl::Seconds(5));
  EXPECT_EQ(FromProto(Poll("w1").drain_grace()), absl::Seconds(5));
}

}  // namespace
}  // namespace ksearch
