#include "coordinator/search/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using ::testing::DoubleNear;

v1::JobResult Passed(std::vector<std::pair<double, double>> candidate_and_baseline) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  for (const auto& [candidate, baseline] : candidate_and_baseline) {
    v1::WorkloadResult* workload = result.add_workloads();
    workload->mutable_candidate()->set_median_us(candidate);
    if (baseline > 0) workload->mutable_baseline()->set_median_us(baseline);
  }
  return result;
}

TEST(ScoreTest, PaperTakesTheArithmeticDefaultTheGeometricMean) {
  const v1::JobResult result = Passed({{10, 10}, {10, 40}});  // ratios 1 and 4
  EXPECT_THAT(ScoreOf(result, v1::PRESET_PAPER).value, DoubleNear(2.5, 1e-12));
  EXPECT_THAT(ScoreOf(result, v1::PRESET_DEFAULT).value, DoubleNear(2.0, 1e-12));
  EXPECT_THAT(*ScoreOf(result, v1::PRESET_DEFAULT).latency_us, DoubleNear(10, 1e-9));
}

TEST(ScoreTest, WithoutABaselineFasterIsStillMore) {
  const Score fast = ScoreOf(Passed({{10, 0}}), v1::PRESET_PAPER);
  const Score slow = ScoreOf(Passed({{20, 0}}), v1::PRESET_PAPER);
  EXPECT_THAT(fast.value, DoubleNear(100, 1e-9));
  EXPECT_GT(fast.value, slow.value);
  EXPECT_FALSE(fast.vs_baseline.has_value());
}

TEST(ScoreTest, FailedAndSuspiciousResultsDoNotPass) {
  v1::JobResult result = Passed({{10, 100}});
  result.set_outcome(v1::OUTCOME_INCORRECT);
  EXPECT_FALSE(ScoreOf(result, v1::PRESET_DEFAULT).passed);
  EXPECT_EQ(ScoreOf(result, v1::PRESET_DEFAULT).value, 0);
  result.set_outcome(v1::OUTCOME_PASSED);
  result.add_suspicions("audit_clock: 3.1x");
  EXPECT_FALSE(ScoreOf(result, v1::PRESET_PAPER).passed);
  EXPECT_EQ(OutcomeLine(result), "suspicious: audit_clock: 3.1x");
}

TEST(ScoreTest, OutcomeLineNamesTheFirstDiagnosticOnOneLine) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
  result.set_message("the compiler\nsaid no");
  v1::Diagnostic* diagnostic = result.mutable_build()->add_diagnostics();
  diagnostic->set_file("kernel.cpp");
  diagnostic->set_line(7);
  diagnostic->set_severity("error");
  diagnostic->set_message("expected ';'");
  EXPECT_EQ(OutcomeLine(result), "compile_error: the compiler said no; kernel.cpp:7: expected ';'");
}

TEST(ScoreTest, TrimmingDropsRawSamplesAndKeepsMedians) {
  v1::JobResult result = Passed({{10, 20}});
  result.mutable_workloads(0)->mutable_candidate()->add_latency_us(10);
  result.mutable_build()->set_log_excerpt(std::string(100000, 'x'));
  const v1::JobResult trimmed = TrimmedResult(result);
  EXPECT_EQ(trimmed.workloads(0).candidate().latency_us_size(), 0);
  EXPECT_EQ(trimmed.workloads(0).candidate().median_us(), 10);
  EXPECT_LT(trimmed.ByteSizeLong(), 10000u);
}

TEST(FloorShareTest, IsTheGeometricMeanWhereEveryFloorIsKnown) {
  v1::JobResult result;
  EXPECT_EQ(FloorShare(result), 0);
  for (const double latency_us : {10.0, 40.0}) {
    v1::WorkloadResult* workload = result.add_workloads();
    workload->mutable_candidate()->set_median_us(latency_us);
    workload->set_floor_us(10);
  }
  EXPECT_DOUBLE_EQ(FloorShare(result), 0.5);
  result.mutable_workloads(1)->clear_floor_us();
  EXPECT_EQ(FloorShare(result), 0);
}

}  // namespace
}  // namespace ksearch
