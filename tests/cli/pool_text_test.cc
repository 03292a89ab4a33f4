#include "cli/pool_text.h"

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(PoolTextTest, AFaultIsSaidBelowTheTableWithTheTimeOfTheNextTry) {
  v1::ListWorkersReply reply;
  EXPECT_EQ(PoolsText(reply.pools(), kNow), "");
  v1::PoolStatus* pool = reply.add_pools();
  pool->set_held(true);
  pool->mutable_report()->set_pool("slurm-h200");
  pool->mutable_report()->set_provider("slurm");
  pool->mutable_report()->set_nano_usd_per_hour(2'500'000'000);
  pool->mutable_report()->set_nano_usd_spent(1'250'000'000);
  pool->mutable_report()->set_fault("sbatch: error: QOSMaxSubmitJobPerUserLimit");
  pool->mutable_report()->mutable_retry_in()->set_seconds(60);
  std::string text = PoolsText(reply.pools(), kNow);
  EXPECT_THAT(text, HasSubstr("$1.25"));
  EXPECT_THAT(text, HasSubstr("pool slurm-h200: sbatch: error: QOSMaxSubmitJobPerUserLimit (tried "
                              "again in 1m)\n"));
  pool->set_held(false);
  pool->mutable_report()->set_host("login1");
  *pool->mutable_last_report_at() = ToProto(kNow - absl::Seconds(90));
  text = PoolsText(reply.pools(), kNow);
  EXPECT_THAT(text, HasSubstr("its autoscaler on login1 has not reported for 1m30s\n"));
}

TEST(PoolTextTest, WhatPendingInstancesWaitForIsSaid) {
  v1::ListWorkersReply reply;
  v1::PoolStatus* pool = reply.add_pools();
  pool->set_held(true);
  pool->mutable_report()->set_pool("h200");
  pool->mutable_report()->set_waits_for("Unschedulable: 3 Insufficient nvidia.com/gpu.");
  EXPECT_THAT(PoolsText(reply.pools(), kNow), Not(HasSubstr("Insufficient")));
  pool->mutable_report()->set_pending(2);
  EXPECT_THAT(PoolsText(reply.pools(), kNow),
              HasSubstr("pool h200: 2 pending: Unschedulable: 3 Insufficient nvidia.com/gpu.\n"));
}

TEST(PoolTextTest, DemandSaysWhatAWorkerMustHave) {
  v1::DemandReply reply;
  reply.set_idle_slots(4);
  EXPECT_EQ(DemandText(reply), "no job waits for a worker; 4 free slots, 0 runs in progress\n");
  v1::Demand* demand = reply.add_demands();
  demand->mutable_requirement()->set_device_model("NVIDIA H200");
  demand->mutable_requirement()->set_architecture("sm_90a");
  demand->mutable_requirement()->add_languages(v1::LANGUAGE_CUDA);
  demand->set_queued(7);
  demand->mutable_oldest()->set_seconds(65);
  EXPECT_THAT(DemandText(reply), HasSubstr("NVIDIA H200, sm_90a, cuda"));
  EXPECT_THAT(DemandText(reply), HasSubstr("1m5s"));
  EXPECT_THAT(DemandText(reply), Not(HasSubstr("longer than")));
  demand->set_too_short(3);
  demand->mutable_longest_job()->set_seconds(600);
  EXPECT_THAT(DemandText(reply), HasSubstr("3 of them may take 10m, longer than any"));
}

}  // namespace
}  // namespace ksearch
