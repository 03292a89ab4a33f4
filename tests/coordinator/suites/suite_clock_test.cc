#include "coordinator/suites/suite_clock.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SuiteClockTest, EveryEvaluatorHasAClockOfItsOwn) {
  const v1::SuiteClock flashinfer = ClockOf(Evaluator::kFlashInferBench);
  EXPECT_THAT(flashinfer.evaluator(), HasSubstr("flashinfer-bench"));
  EXPECT_EQ(flashinfer.calls(), 50);
  EXPECT_EQ(flashinfer.variants(), 3);
  EXPECT_TRUE(flashinfer.copies_inputs() && flashinfer.waits());
  const v1::SuiteClock warm = ClockOf(Evaluator::kGpuMode), cold = ClockOf(Evaluator::kGpuModeCold);
  EXPECT_EQ(warm.flush_bytes(), 0);
  EXPECT_EQ(warm.relative_error(), 0.001);
  EXPECT_EQ(warm.most_time().seconds(), 10);
  EXPECT_EQ(cold.flush_bytes(), int64_t{256} << 20);
  EXPECT_EQ(ClockOf(Evaluator::kKernelBench).calls(), 100);
  EXPECT_FALSE(ClockOf(Evaluator::kKernelBench).has_most_time());
}

TEST(SuiteClockTest, ScoreIsTheGeometricMeanOfWhatWasTimed) {
  const v1::SuiteClock clock = ClockOf(Evaluator::kGpuMode);
  v1::JobResult result;
  EXPECT_FALSE(ClockScore(clock, result).has_value());
  result.add_workloads()->mutable_suite_time()->set_mean_us(20);
  EXPECT_EQ(ClockScore(clock, result)->name(), "time as GPU MODE's eval.py takes it");
  result.add_workloads()->mutable_suite_time()->set_mean_us(80);
  result.add_workloads();
  const v1::SuiteScore score = *ClockScore(clock, result);
  EXPECT_EQ(score.name(), "time as GPU MODE's eval.py takes it, geometric mean");
  EXPECT_NEAR(score.value(), 40, 1e-9);
  EXPECT_EQ(score.unit(), "us");
  EXPECT_THAT(score.note(), HasSubstr("2 workloads"));
}

TEST(SuiteClockTest, TimeFarBelowThatOfTheOwnClockIsDoubted) {
  const v1::SuiteClock clock = ClockOf(Evaluator::kKernelBench);
  v1::JobResult result;
  const auto add = [&](double suite_us, double own_us, double copy_us) {
    v1::WorkloadResult* const workload = result.add_workloads();
    workload->mutable_suite_time()->set_mean_us(suite_us);
    workload->mutable_candidate()->set_median_us(own_us);
    workload->set_copy_us(copy_us);
  };
  // Repeated inputs make calls faster, and copies, which are no part of it, may take most of one.
  add(30, 100, 0);
  add(3, 100, 95);
  EXPECT_THAT(ClockScore(clock, result)->note(), Not(HasSubstr("rely")));
  add(3, 28000, 195);
  EXPECT_THAT(ClockScore(clock, result)->note(),
              HasSubstr("; on 1 of 3 under a quarter of ksearch's own time: do not rely on it"));
}

}  // namespace
}  // namespace ksearch
