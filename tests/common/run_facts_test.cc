#include "common/run_facts.h"

#include <gtest/gtest.h>

#include <utility>

namespace ksearch {
namespace {

TEST(SpeedupOverBaselineTest, IsTheGeometricMeanAndAbsentWhenANumberIsMissing) {
  v1::JobResult result;
  EXPECT_FALSE(SpeedupOverBaseline(result).has_value());
  for (const auto& [candidate, baseline] : {std::pair{1.0, 2.0}, std::pair{1.0, 8.0}}) {
    v1::WorkloadResult* workload = result.add_workloads();
    workload->mutable_candidate()->set_median_us(candidate);
    workload->mutable_baseline()->set_median_us(baseline);
  }
  EXPECT_NEAR(SpeedupOverBaseline(result).value(), 4.0, 1e-12);
  result.add_workloads()->mutable_candidate()->set_median_us(1.0);
  EXPECT_FALSE(SpeedupOverBaseline(result).has_value());
}

TEST(HasEndedTest, OnlyARunningOrStoppingRunHasNot) {
  EXPECT_FALSE(HasEnded(v1::RUN_STATE_RUNNING));
  EXPECT_FALSE(HasEnded(v1::RUN_STATE_STOPPING));
  for (const auto state : {v1::RUN_STATE_STOPPED, v1::RUN_STATE_FINISHED, v1::RUN_STATE_FAILED,
                           v1::RUN_STATE_OUT_OF_BUDGET}) {
    EXPECT_TRUE(HasEnded(state)) << v1::RunState_Name(state);
  }
}

TEST(RatioTextTest, NamesTheLevelOfTheIntervalRoundedDown) {
  EXPECT_EQ(RatioText(1.5, 1.42, 1.561, 0.975), "1.50x [1.42, 1.56] at 95 %");
  EXPECT_EQ(RatioText(1.5, 1.42, 1.56, 1 - 0.025 * 0.608), "1.50x [1.42, 1.56] at 96.9 %");
  EXPECT_EQ(RatioText(1.5, 1.42, 1.56, 0.99999), "1.50x [1.42, 1.56] at 99.9 %");
  v1::Comparison measured_before_levels_were_recorded;
  EXPECT_EQ(RatioText(measured_before_levels_were_recorded), "1.00x [1.00, 1.00]");
}

}  // namespace
}  // namespace ksearch
