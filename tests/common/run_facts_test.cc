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

}  // namespace
}  // namespace ksearch
