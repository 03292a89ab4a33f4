#include "gpu_worker/session/held_leases.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::WorkerDown Offers(int64_t seq, std::initializer_list<const char*> leases) {
  v1::WorkerDown down;
  down.set_directive_seq(seq);
  for (const char* lease : leases) {
    v1::JobOffer* offer = down.add_offers();
    offer->set_lease_id(lease);
    offer->set_job_id(std::string("job of ") + lease);
    offer->set_attempt(1);
  }
  return down;
}

v1::WorkerDown Cancel(int64_t seq, const std::string& lease) {
  v1::WorkerDown down;
  down.set_directive_seq(seq);
  down.add_cancel_lease_ids(lease);
  return down;
}

v1::DeviceHealth Healthy() {
  v1::DeviceHealth health;
  health.set_healthy(true);
  return health;
}

v1::HeldLease::State StateOf(const HeldLeases& held, const std::string& lease) {
  const v1::WorkerReport report = held.Report(Healthy());
  for (const v1::HeldLease& listed : report.leases()) {
    if (listed.lease_id() == lease) return listed.state();
  }
  return v1::HeldLease::STATE_UNSPECIFIED;
}

TEST(HeldLeasesTest, LeaseRunsThroughItsStatesAndHoldsASlotUntilFinished) {
  HeldLeases held(2);
  const HeldLeases::Orders orders = held.Apply(Offers(1, {"a"}));
  ASSERT_EQ(orders.start.size(), 1u);
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::QUEUED);
  EXPECT_EQ(held.Report(Healthy()).free_slots(), 1);
  EXPECT_EQ(held.Report(Healthy()).applied_directive_seq(), 1);
  EXPECT_TRUE(held.Start("a"));
  EXPECT_FALSE(held.Start("a"));
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::BUILDING);
  held.Progress("a", v1::HeldLease::RUNNING);
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::RUNNING);
  EXPECT_EQ(held.busy(), 1);
  held.Finish("a");
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::FINISHED);
  EXPECT_EQ(held.Report(Healthy()).free_slots(), 2);
  held.Progress("a", v1::HeldLease::RUNNING);  // late: no effect
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::FINISHED);
  held.Drop("a");
  EXPECT_TRUE(held.empty());
}

TEST(HeldLeasesTest, EveryChangeRaisesTheVersionAndNothingElseDoes) {
  HeldLeases held(1);
  int64_t version = held.version();
  const auto changed = [&] { return std::exchange(version, held.version()) != held.version(); };
  held.Apply(Offers(1, {"a"}));
  EXPECT_TRUE(changed());
  held.Start("a");
  EXPECT_TRUE(changed());
  held.Progress("a", v1::HeldLease::BUILDING);
  EXPECT_FALSE(changed());
  held.Apply(Cancel(2, "unknown"));
  EXPECT_FALSE(changed());
  held.Return("a", "no disk");
  EXPECT_TRUE(changed());
  held.Return("a", "again");
  EXPECT_FALSE(changed());
}

TEST(HeldLeasesTest, DirectivesApplyOnceAndInOrder) {
  HeldLeases held(2);
  held.Apply(Offers(2, {"a"}));
  held.Drop("a");
  EXPECT_THAT(held.Apply(Offers(2, {"a"})).start, IsEmpty());
  EXPECT_THAT(held.Apply(Offers(1, {"b"})).start, IsEmpty());
  EXPECT_TRUE(held.empty());
}

TEST(HeldLeasesTest, NewSessionCountsDirectivesAnew) {
  HeldLeases held(2);
  held.Apply(Offers(7, {"a"}));
  held.BeginSession();
  EXPECT_EQ(held.Report(Healthy()).applied_directive_seq(), 0);
  EXPECT_EQ(held.Apply(Offers(1, {"b"})).start.size(), 1u);
  EXPECT_EQ(held.Report(Healthy()).leases_size(), 2);
}

TEST(HeldLeasesTest, LeaseOfferedTwiceIsHeldOnce) {
  HeldLeases held(2);
  held.Apply(Offers(1, {"a"}));
  EXPECT_THAT(held.Apply(Offers(2, {"a"})).start, IsEmpty());
}

TEST(HeldLeasesTest, CancelDropsWhatWaitsAndStopsWhatExecutes) {
  HeldLeases held(2);
  held.Apply(Offers(1, {"a", "b"}));
  held.Start("b");
  EXPECT_THAT(held.Apply(Cancel(2, "a")).stop, IsEmpty());
  EXPECT_FALSE(held.Start("a"));
  EXPECT_THAT(held.Apply(Cancel(3, "b")).stop, ElementsAre("b"));
  // Stays listed and keeps its slot until it has really stopped.
  EXPECT_EQ(held.busy(), 1);
  held.Drop("b");
  EXPECT_TRUE(held.empty());
}

TEST(HeldLeasesTest, WhatDoesNotEndInTimeIsGivenBackAndStaysListedUntilItIsSettled) {
  HeldLeases held(3);
  held.Apply(Offers(1, {"queued", "running", "done"}));
  held.Start("running");
  held.Start("done");
  held.Finish("done");
  held.Drain("its Slurm job ends");
  EXPECT_EQ(StateOf(held, "queued"), v1::HeldLease::RETURNED);
  EXPECT_EQ(StateOf(held, "running"), v1::HeldLease::BUILDING);
  EXPECT_THAT(held.GiveBack(), ElementsAre("running"));
  EXPECT_THAT(held.GiveBack(), IsEmpty());
  held.Drop("running");  // its execution has stopped
  const v1::WorkerReport report = held.Report(Healthy());
  EXPECT_TRUE(report.draining());
  EXPECT_EQ(report.leaving_because(), "its Slurm job ends");
  int returned = 0;
  for (const v1::HeldLease& lease : report.leases()) {
    if (lease.state() != v1::HeldLease::RETURNED) continue;
    ++returned;
    EXPECT_EQ(lease.return_reason(), v1::HeldLease::LEAVING);
    EXPECT_EQ(lease.returned(), "the worker leaves: its Slurm job ends");
  }
  EXPECT_EQ(returned, 2);
  EXPECT_EQ(StateOf(held, "done"), v1::HeldLease::FINISHED);
  EXPECT_EQ(held.busy(), 0);
  v1::WorkerDown settled;
  settled.set_directive_seq(2);
  settled.add_settled_lease_ids("queued");
  settled.add_settled_lease_ids("running");
  held.Apply(settled);
  held.Drop("done");
  EXPECT_TRUE(held.empty());
}

TEST(HeldLeasesTest, TroubleIsNoLeaving) {
  HeldLeases held(1);
  held.Apply(Offers(1, {"a"}));
  held.Start("a");
  held.Return("a", "no disk");
  EXPECT_EQ(held.Report(Healthy()).leases(0).return_reason(), v1::HeldLease::TROUBLE);
}

TEST(HeldLeasesTest, CancelLeavesAFinishedResultAlone) {
  HeldLeases held(1);
  held.Restore("a", "job", 2);
  EXPECT_THAT(held.Apply(Cancel(1, "a")).stop, IsEmpty());
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::FINISHED);
}

TEST(HeldLeasesTest, ReturnedLeaseIsListedUntilSettled) {
  HeldLeases held(1);
  held.Apply(Offers(1, {"a"}));
  held.Start("a");
  held.Return("a", "no compiler");
  const v1::WorkerReport report = held.Report(Healthy());
  ASSERT_EQ(report.leases_size(), 1);
  EXPECT_EQ(report.leases(0).returned(), "no compiler");
  EXPECT_EQ(report.free_slots(), 1);
  v1::WorkerDown down;
  down.set_directive_seq(2);
  down.add_settled_lease_ids("a");
  held.Apply(down);
  EXPECT_TRUE(held.empty());
}

TEST(HeldLeasesTest, UnhealthyMeansNoCredits) {
  HeldLeases held(2);
  v1::DeviceHealth sick;
  sick.set_reason("ECC errors");
  const v1::WorkerReport report = held.Report(sick);
  EXPECT_EQ(report.free_slots(), 0);
  EXPECT_EQ(report.health().reason(), "ECC errors");
}

TEST(HeldLeasesTest, DrainReturnsWhatHasNotBegunAndFinishesTheRest) {
  HeldLeases held(2);
  held.Apply(Offers(1, {"a", "b"}));
  held.Start("a");
  held.Drain();
  EXPECT_EQ(StateOf(held, "a"), v1::HeldLease::BUILDING);
  EXPECT_EQ(StateOf(held, "b"), v1::HeldLease::RETURNED);
  EXPECT_FALSE(held.Start("b"));
  const v1::WorkerReport report = held.Report(Healthy());
  EXPECT_TRUE(report.draining());
  EXPECT_EQ(report.free_slots(), 0);
  // An offer that was sent before the drain arrived is returned.
  EXPECT_THAT(held.Apply(Offers(2, {"c"})).start, IsEmpty());
  EXPECT_EQ(StateOf(held, "c"), v1::HeldLease::RETURNED);
}

TEST(HeldLeasesTest, PileOfUnacknowledgedResultsStopsNewWork) {
  HeldLeases held(2);
  for (int i = 0; i < 63; ++i) held.Restore("lease" + std::to_string(i), "job", 1);
  EXPECT_EQ(held.Report(Healthy()).free_slots(), 2);
  held.Restore("one more", "job", 1);
  EXPECT_EQ(held.Report(Healthy()).free_slots(), 0);
}

TEST(HeldLeasesTest, SlotsOfSickDevicesAreNotOffered) {
  HeldLeases held(4);
  v1::DeviceHealth health = Healthy();
  health.set_devices(2);
  EXPECT_EQ(held.Report(health).free_slots(), 4);
  health.add_sick_devices()->set_device_id("GPU-2");
  EXPECT_EQ(held.Report(health).free_slots(), 2);
  health.set_devices(3);
  EXPECT_EQ(held.Report(health).free_slots(), 3);
  health.clear_sick_devices();
  EXPECT_EQ(held.Report(health).free_slots(), 4);
}

}  // namespace
}  // namespace ksearch
