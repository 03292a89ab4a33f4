#include "autoscaler/pool_policy.h"

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Time kStart = absl::UnixEpoch();

v1::WorkerPool Pool() {
  v1::WorkerPool pool;
  pool.set_name("h200");
  pool.set_most(8);
  pool.mutable_offer()->set_slots(2);
  *pool.mutable_work_per_instance() = ToProto(absl::Minutes(5));
  *pool.mutable_cool_down() = ToProto(absl::Minutes(5));
  return pool;
}

PoolDemand Waits(int jobs, absl::Duration work) { return {jobs, jobs, work, "NVIDIA H200"}; }

PoolInstance Busy(const std::string& id) { return {id, true, true, false}; }
PoolInstance Idle(const std::string& id) { return {id, true, true, true}; }

TEST(PoolPolicyTest, AnyDemandStartsTheFirstInstanceAndLittleWorkNoSecond) {
  PoolPolicy policy(Pool(), kStart);
  PoolDecision decision = policy.Decide(Waits(1, absl::Seconds(1)), {}, 0, true, kStart);
  EXPECT_EQ(decision.start, 1);
  EXPECT_EQ(decision.why, "1 job waits for NVIDIA H200");
  // One is starting already.
  EXPECT_EQ(policy.Decide(Waits(3, absl::Minutes(4)), {}, 1, true, kStart).start, 0);
  EXPECT_EQ(policy.Decide(Waits(3, absl::Minutes(4)), {{"a"}}, 0, true, kStart).start, 0);
}

TEST(PoolPolicyTest, WorkDecidesHowManyUpToTheJobsAndTheCap) {
  PoolPolicy policy(Pool(), kStart);
  EXPECT_EQ(policy.Decide(Waits(20, absl::Minutes(16)), {}, 0, true, kStart).start, 4);
  EXPECT_EQ(policy.Decide(Waits(5, absl::Hours(10)), {}, 0, true, kStart).start, 3);
  EXPECT_EQ(policy.Decide(Waits(500, absl::Hours(10)), {}, 0, true, kStart).start, 8);
  EXPECT_EQ(policy.Decide(Waits(500, absl::Hours(10)), {Busy("a")}, 2, true, kStart).start, 5);
  const PoolDecision not_now = policy.Decide(Waits(500, absl::Hours(10)), {}, 0, false, kStart);
  EXPECT_EQ(not_now.start, 0);
  EXPECT_EQ(not_now.wanted, 8);
}

TEST(PoolPolicyTest, IdleInstancesGoAfterTheCoolDownAndBusyOnesDoNot) {
  PoolPolicy policy(Pool(), kStart);
  const std::vector<PoolInstance> all = {Busy("busy"), Idle("idle"), {"pending"}};
  policy.Decide(Waits(1, absl::Minutes(1)), all, 0, true, kStart);
  EXPECT_THAT(policy.Decide({}, all, 0, true, kStart + absl::Minutes(4)).stop, IsEmpty());
  // Jobs that free slots are about to take are demand, too.
  PoolDemand about_to_be_taken;
  about_to_be_taken.queued = 1;
  policy.Decide(about_to_be_taken, all, 0, true, kStart + absl::Minutes(4));
  EXPECT_THAT(policy.Decide({}, all, 0, true, kStart + absl::Minutes(6)).stop, IsEmpty());
  const PoolDecision decision = policy.Decide({}, all, 0, true, kStart + absl::Minutes(9));
  EXPECT_THAT(decision.stop, ElementsAre("pending", "idle"));
  EXPECT_EQ(decision.wanted, 1);
}

TEST(PoolPolicyTest, WhatIsStillComingIsWithdrawnFirst) {
  PoolPolicy policy(Pool(), kStart);
  const PoolDecision decision =
      policy.Decide({}, {Busy("busy")}, 3, true, kStart + absl::Minutes(6));
  EXPECT_EQ(decision.withdraw, 3);
  EXPECT_THAT(decision.stop, IsEmpty());
  EXPECT_EQ(decision.wanted, 1);
}

TEST(PoolPolicyTest, TheLeastIsKept) {
  v1::WorkerPool pool = Pool();
  pool.set_least(2);
  PoolPolicy policy(pool, kStart);
  EXPECT_EQ(policy.Decide({}, {}, 0, true, kStart).start, 2);
  const std::vector<PoolInstance> three = {Idle("a"), Idle("b"), Idle("c")};
  EXPECT_THAT(policy.Decide({}, three, 0, true, kStart + absl::Hours(1)).stop, ElementsAre("a"));
}

TEST(PoolPolicyTest, DemandIsWhatTheOfferMeetsAndNoFreeSlotTakes) {
  v1::DemandReply reply;
  v1::Demand* h200 = reply.add_demands();
  h200->mutable_requirement()->set_device_class(v1::DEVICE_CLASS_CUDA);
  h200->mutable_requirement()->set_device_model("NVIDIA H200");
  h200->mutable_requirement()->add_languages(v1::LANGUAGE_CUDA);
  h200->set_queued(10);
  h200->set_free_slots(4);
  *h200->mutable_expected_time() = ToProto(absl::Minutes(100));
  v1::Demand* cpu = reply.add_demands();
  cpu->mutable_requirement()->set_device_class(v1::DEVICE_CLASS_CPU);
  cpu->set_queued(3);
  v1::WorkerOffer offer;
  offer.set_device_class(v1::DEVICE_CLASS_CUDA);
  PoolDemand demand = DemandFor(offer, reply.demands());
  EXPECT_EQ(demand.jobs, 6);
  EXPECT_EQ(demand.queued, 10);
  EXPECT_EQ(demand.work, absl::Minutes(60));
  // No worker stays long enough for 9 of them, so free slots do not help.
  h200->set_too_short(9);
  EXPECT_EQ(DemandFor(offer, reply.demands()).jobs, 9);
  h200->set_too_short(0);
  h200->set_waiting_callers(2);
  EXPECT_EQ(DemandFor(offer, reply.demands()).jobs, 8);
  offer.set_device_model("NVIDIA H100");
  EXPECT_EQ(DemandFor(offer, reply.demands()).queued, 0);
  offer.set_device_model("NVIDIA H200");
  offer.add_languages(v1::LANGUAGE_PYTHON);
  EXPECT_EQ(DemandFor(offer, reply.demands()).queued, 0);
  offer.add_languages(v1::LANGUAGE_CUDA);
  EXPECT_EQ(DemandFor(offer, reply.demands()).queued, 12);
}

TEST(PoolPolicyTest, BuildersServeBuildsOnly) {
  v1::WorkerOffer offer;
  offer.set_build_only(true);
  v1::WorkerRequirement requirement;
  EXPECT_FALSE(Meets(offer, requirement));
  requirement.set_build_only(true);
  EXPECT_TRUE(Meets(offer, requirement));
}

}  // namespace
}  // namespace ksearch
