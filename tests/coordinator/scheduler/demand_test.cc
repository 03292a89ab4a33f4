// The demand for workers, as autoscalers see it.
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/scheduler/leasing_scheduler_fixture.h"

namespace ksearch {
namespace {

using DemandTest = LeasingSchedulerFixture;

TEST_F(DemandTest, NothingIsWantedWhereNothingWaits) {
  Join("w1", 3);
  EXPECT_TRUE(scheduler_->Demand({}, now_).empty());
  EXPECT_EQ(scheduler_->idle_slots(), 3);
}

TEST_F(DemandTest, QueuedAndLeasedJobsAreCountedByRequirementWithTheirAge) {
  v1::JobSpec cuda = Spec(v1::LANGUAGE_CUDA);
  cuda.set_device(v1::DEVICE_CLASS_CUDA);
  cuda.mutable_platform()->set_device_model("NVIDIA H200");
  Keep(scheduler_->Submit("gpu", cuda, 0, now_));
  now_ += absl::Seconds(30);
  for (const char* job : {"a", "b", "c"}) Submit(job);
  Join("w1", 2);  // takes two of them
  now_ += absl::Seconds(10);
  const std::vector<RequirementDemand> demands = scheduler_->Demand({}, now_);
  ASSERT_EQ(demands.size(), 2u);
  const bool gpu_first = !demands[0].requirement.device_model.empty();
  const RequirementDemand& gpu = demands[gpu_first ? 0 : 1];
  const RequirementDemand& cpu = demands[gpu_first ? 1 : 0];
  EXPECT_EQ(gpu.requirement.device_model, "NVIDIA H200");
  EXPECT_EQ(gpu.queued, 1);
  EXPECT_EQ(gpu.oldest, absl::Seconds(40));
  EXPECT_EQ(gpu.workers, 0);
  EXPECT_EQ(gpu.too_short, 0);
  EXPECT_EQ(cpu.queued, 1);
  EXPECT_EQ(cpu.leased, 2);
  EXPECT_EQ(cpu.oldest, absl::Seconds(10));
  EXPECT_EQ(cpu.expected_time, absl::Minutes(2));
  EXPECT_EQ(cpu.workers, 1);
  EXPECT_EQ(cpu.free_slots, 0);
}

TEST_F(DemandTest, JobsThatNoWorkerStaysLongEnoughForAreTold) {
  Hello("w1");
  v1::WorkerReport report = Report(0, 2);
  *report.mutable_time_left() = ToProto(absl::Minutes(1));
  Sync("w1", report);
  Submit("a");
  const std::vector<RequirementDemand> demands = scheduler_->Demand({}, now_);
  ASSERT_EQ(demands.size(), 1u);
  EXPECT_EQ(demands[0].too_short, 1);
  EXPECT_EQ(demands[0].longest_job, absl::Minutes(2));
  EXPECT_EQ(demands[0].free_slots, 2);
}

TEST_F(DemandTest, WhatSomebodyAsksAboutIsListedWithoutAJob) {
  const Requirement requirement = RequirementOf(Spec());
  Join("w1", 1);
  const std::vector<RequirementDemand> demands = scheduler_->Demand({requirement}, now_);
  ASSERT_EQ(demands.size(), 1u);
  EXPECT_EQ(demands[0].queued, 0);
  EXPECT_EQ(demands[0].free_slots, 1);
}

}  // namespace
}  // namespace ksearch
