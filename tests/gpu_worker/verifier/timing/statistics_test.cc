#include "gpu_worker/verifier/timing/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/rng.h"

namespace ksearch {
namespace {

std::vector<double> OneTo(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

TEST(StatisticsTest, MedianAndQuantiles) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Quantile(OneTo(11), 0.9), 10);
  EXPECT_EQ(Mean({1, 2, 6}), 3);
}

// Ranks from tables of the sign test, two-sided 95 %: n = 6 -> [1, 6], 10 -> [2, 9], 20 -> [6, 15],
// 50 -> [18, 33].
TEST(StatisticsTest, MedianIntervalMatchesTables) {
  const std::tuple<int, double, double> rows[] = {
      {3, 1, 3}, {6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {50, 18, 33}};
  for (const auto& [n, low, high] : rows) {
    const Interval interval = MedianInterval(OneTo(n), 0.95);
    EXPECT_EQ(interval.low, low) << n;
    EXPECT_EQ(interval.high, high) << n;
  }
}

TEST(StatisticsTest, MedianIntervalCoversTheMedianAsOftenAsItSays) {
  Rng rng(7);
  int covered = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> sample;
    for (int i = 0; i < 25; ++i) sample.push_back(-std::log(1 - rng.NextDouble()));
    const Interval interval = MedianInterval(sample, 0.95);
    covered += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
  }
  EXPECT_GE(covered, 1880);  // 94 %
}

TEST(StatisticsTest, SummaryFlagsUnstableTimings) {
  std::vector<double> values(100, 10.0);
  for (size_t i = 0; i < 5; ++i) values[i * 20] = 16;
  EXPECT_FALSE(Summarize(values).unstable());
  values[3] = 16;
  const v1::Samples samples = Summarize(values);
  EXPECT_TRUE(samples.unstable());
  EXPECT_EQ(samples.median_us(), 10);
  EXPECT_EQ(samples.latency_us(3), 16);  // call order is kept
}

TEST(StatisticsTest, TheRunnersWordCountsOnlyWhereItGainsNothing) {
  const auto judge = [](Interval by_verifier, Interval by_runners) {
    SpeedupEstimate ours, theirs;
    ours.combined = {0, by_verifier};
    theirs.combined = {0, by_runners};
    return JudgeUndecided(ours, theirs, 0.01, 0.03);
  };
  EXPECT_EQ(judge({-0.014, 0.002}, {-0.004, 0.003}), v1::Comparison::EQUAL);
  EXPECT_EQ(judge({-0.03, -0.005}, {-0.02, -0.015}), v1::Comparison::WORSE);
  EXPECT_EQ(judge({0.005, 0.03}, {0.015, 0.02}), v1::Comparison::UNDECIDED);    // would gain
  EXPECT_EQ(judge({0.005, 0.03}, {-0.002, 0.002}), v1::Comparison::UNDECIDED);  // contradicted
}

TEST(StatisticsTest, VerdictsFollowTheInterval) {
  const auto judge = [](double low, double high, double workload_high) {
    SpeedupEstimate result;
    result.combined = {0, {low, high}};
    result.workloads = {{0, {-1, workload_high}}};
    return Judge(result, 0.01, 0.03);
  };
  EXPECT_EQ(judge(0.02, 0.05, 0.1), v1::Comparison::IMPROVED);
  EXPECT_EQ(judge(0.02, 0.05, -0.05), v1::Comparison::MIXED);  // one workload got slower
  EXPECT_EQ(judge(0.005, 0.05, 0.1), v1::Comparison::UNDECIDED);
  EXPECT_EQ(judge(-0.005, 0.005, 0.1), v1::Comparison::EQUAL);
  EXPECT_EQ(judge(-0.05, -0.02, 0.1), v1::Comparison::WORSE);
}

TEST(StatisticsTest, WhatIsFasterInTheMeanAndCertainlyRegressesIsMixed) {
  SpeedupEstimate result;
  result.workloads = {{0.2, {-0.1, 0.5}}, {-0.1, {-0.15, -0.05}}};
  result.combined = {0.05, {-0.2, 0.3}};
  EXPECT_EQ(Judge(result, 0.01, 0.03), v1::Comparison::MIXED);
  // More launches may show that it is worse.
  result.combined.mean = -0.05;
  EXPECT_EQ(Judge(result, 0.01, 0.03), v1::Comparison::UNDECIDED);
  result.combined.mean = 0.05;
  result.workloads[1].interval.high = -0.02;
  EXPECT_EQ(Judge(result, 0.01, 0.03), v1::Comparison::UNDECIDED);
}

}  // namespace
}  // namespace ksearch
