#include "coordinator/engine/feedback_workloads.h"

#include <string>
#include <vector>

#include "common/identity.h"
#include "coordinator/engine/job_specs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::Task MakeTask(int workloads = 4) {
  v1::Task task;
  task.set_name("t");
  for (int i = 0; i < workloads; ++i) {
    v1::Workload* const workload = task.add_workloads();
    workload->set_uuid(std::string("w") + std::to_string(i));
    workload->set_held_out(i == 3);
  }
  return task;
}

v1::RunConfig Naming(const std::vector<std::string>& uuids) {
  v1::RunConfig config;
  for (const std::string& uuid : uuids) config.add_feedback_workloads(uuid);
  return config;
}

std::vector<std::string> ScreenedOn(const v1::Task& task) {
  const v1::JobSpec spec = JobSpecs(task, {}, {}).Screen({});
  return {spec.workload_uuids().begin(), spec.workload_uuids().end()};
}

TEST(FeedbackWorkloadsTest, ScreeningsRunTheNamedOnesAndConfirmationsAll) {
  v1::Task task = MakeTask();
  const std::string digest = TaskDigest(task);
  ASSERT_TRUE(ChooseFeedbackWorkloads(Naming({"w3", "w1"}), &task).ok());
  EXPECT_THAT(ScreenedOn(task), ElementsAre("w1", "w3"));
  EXPECT_THAT(JobSpecs(task, {}, {}).Confirm({}, "", nullptr, 1).workload_uuids(),
              ElementsAre("w0", "w1", "w2", "w3"));
  EXPECT_NE(TaskDigest(task), digest);  // or another run's results would answer its jobs
}

TEST(FeedbackWorkloadsTest, WhatTheSuiteDoesNotRankDecidesNothing) {
  v1::Task task = MakeTask();
  task.mutable_objective()->set_ranked(v1::Objective::RANKED_OFFICIAL);
  v1::Task all = task, some = task, other = task;
  ASSERT_TRUE(ChooseFeedbackWorkloads(Naming({"w2", "w1", "w0"}), &all).ok());
  EXPECT_EQ(all.objective().ranked(), v1::Objective::RANKED_OFFICIAL);
  ASSERT_TRUE(ChooseFeedbackWorkloads(Naming({"w1"}), &some).ok());
  // Or w1 alone would decide, as if it were all that the suite ranks.
  EXPECT_EQ(some.objective().ranked(), v1::Objective::RANKED_ALL);
  EXPECT_EQ(std::string(ChooseFeedbackWorkloads(Naming({"w1", "w3"}), &other).message()),
            "feedback_workloads: 'w3' is not one of the official cases by which t is ranked: w0, "
            "w1, w2");
}

TEST(FeedbackWorkloadsTest, WithoutAChoiceTheTaskStaysAsItIs) {
  v1::Task task = MakeTask();
  const std::string digest = TaskDigest(task);
  ASSERT_TRUE(ChooseFeedbackWorkloads(v1::RunConfig(), &task).ok());
  EXPECT_EQ(TaskDigest(task), digest);
}

TEST(FeedbackWorkloadsTest, FaultsNameTheEntry) {
  const auto fault = [](const std::vector<std::string>& uuids, int workloads) {
    v1::Task task = MakeTask(workloads);
    const absl::Status status = ChooseFeedbackWorkloads(Naming(uuids), &task);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(fault({"w0", "nosuch"}, 4),
              StartsWith("feedback_workloads[1]: task t has no workload 'nosuch'; it has w0, w1"));
  EXPECT_THAT(fault({"nosuch"}, 30), HasSubstr("w19 and 10 more"));
  EXPECT_THAT(fault({"w0", "w0"}, 4), StartsWith("feedback_workloads[1]: 'w0' is named twice"));
  EXPECT_THAT(fault({"w0", "w1"}, 2), StartsWith("feedback_workloads: all 2 workloads"));
}

}  // namespace
}  // namespace ksearch
