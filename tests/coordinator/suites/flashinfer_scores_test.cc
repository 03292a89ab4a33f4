#include "coordinator/suites/flashinfer/flashinfer_scores.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::set<std::string> kUuids = {"a", "b", "c"};
const std::set<std::string> kBaselines = {"base_v1", "base_v2"};

v1::JobResult Screening() {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  result.mutable_device()->set_name("NVIDIA H200");
  const auto add = [&](const std::string& uuid, double candidate_us, double baseline_us) {
    v1::WorkloadResult& workload = *result.add_workloads();
    workload.set_workload_uuid(uuid);
    workload.mutable_candidate()->set_median_us(candidate_us);
    workload.mutable_baseline()->set_median_us(baseline_us);
  };
  add("a", 10, 40);
  add("b", 20, 40);
  add("a_held_out", 1, 1000);  // none of upstream's
  return result;
}

FlashInferTrace Trace(const std::string& solution, const std::string& uuid, double latency_ms,
                      const std::string& hardware = "NVIDIA H200",
                      const std::string& status = "PASSED") {
  return {solution, uuid, hardware, status, latency_ms, 1};
}

TEST(FlashInferScoresTest, MeansAreArithmeticOverTheDataSetsOwnWorkloads) {
  const auto scores = FlashInferScores(Screening(), kUuids, {}, {});
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].name(), "speed-up over the reference");
  EXPECT_DOUBLE_EQ(scores[0].value(), 3);
  EXPECT_EQ(scores[0].unit(), "x");
  EXPECT_THAT(scores[0].note(), HasSubstr("2 of 3 workloads"));
}

TEST(FlashInferScoresTest, BestThatIsOnRecordForTheDeviceIsTheBaseline) {
  const std::vector<FlashInferTrace> traces = {
      Trace("base_v1", "a", 0.040),
      Trace("base_v2", "a", 0.030),
      Trace("base_v1", "b", 0.020),
      Trace("other", "b", 0.001),
      Trace("base_v2", "b", 0.002, "NVIDIA B200"),
      Trace("base_v2", "b", 0.001, "NVIDIA H200", "INCORRECT_NUMERICAL")};
  const auto scores = FlashInferScores(Screening(), kUuids, kBaselines, traces);
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[1].name(), "speed-up over the recorded baseline");
  EXPECT_DOUBLE_EQ(scores[1].value(), 2);  // of 3 and 1
  EXPECT_THAT(scores[1].note(), AllOf(HasSubstr("base_v1, base_v2 as recorded on NVIDIA H200"),
                                      HasSubstr("2 of 2 workloads")));
}

TEST(FlashInferScoresTest, WhatIsMissingOnRecordIsSaid) {
  auto scores = FlashInferScores(Screening(), kUuids, kBaselines,
                                 {Trace("base_v1", "a", 0.1, "NVIDIA B200")});
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[1].value(), 0);
  EXPECT_THAT(scores[1].note(), AllOf(HasSubstr("for NVIDIA H200"), HasSubstr("on NVIDIA B200")));
  scores = FlashInferScores(Screening(), kUuids, kBaselines, {});
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_THAT(scores[1].note(), HasSubstr("no latency of base_v1, base_v2"));
}

TEST(FlashInferScoresTest, ConfirmationCountsByItsComparisonWithTheBaseline) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::Comparison& incumbent = *result.add_comparisons();
  incumbent.set_rival_id("0123");
  v1::Comparison::PerWorkload* workload = incumbent.add_workloads();
  workload->set_workload_uuid("a");
  workload->set_candidate_median_us(1);
  workload->set_rival_median_us(1);
  v1::Comparison& baseline = *result.add_comparisons();
  baseline.set_rival_id("baseline");
  workload = baseline.add_workloads();
  workload->set_workload_uuid("a");
  workload->set_candidate_median_us(10);
  workload->set_rival_median_us(50);
  const auto scores = FlashInferScores(result, kUuids, {}, {});
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_DOUBLE_EQ(scores[0].value(), 5);
}

TEST(FlashInferScoresTest, WhatFailedOrWasNotTimedHasNone) {
  v1::JobResult failed = Screening();
  failed.set_outcome(v1::OUTCOME_INCORRECT);
  EXPECT_TRUE(FlashInferScores(failed, kUuids, kBaselines, {}).empty());
  v1::JobResult checked;
  checked.set_outcome(v1::OUTCOME_PASSED);
  checked.add_workloads()->set_workload_uuid("a");
  EXPECT_TRUE(FlashInferScores(checked, kUuids, kBaselines, {}).empty());
}

}  // namespace
}  // namespace ksearch
