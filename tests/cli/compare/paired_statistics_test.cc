#include "cli/compare/paired_statistics.h"

#include <cmath>
#include <vector>

#include "common/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// Published critical values of the test: the probability of a smaller sum of at most T, twice. For
// n = 10 and T = 8 it is 50/1024; for n = 5 and T = 0 it is 2/32; for n = 20 and T = 52, 0.0484.
TEST(WilcoxonTest, ExactTailsAreThoseOfTheTables) {
  EXPECT_DOUBLE_EQ(WilcoxonSignedRank({1, 2, 3, 4, 5}), 2.0 / 32);
  EXPECT_DOUBLE_EQ(WilcoxonSignedRank({-1, -2, -3, -4, -5}), 2.0 / 32);
  // The negative ones have the ranks 3 and 5: T = 8.
  EXPECT_DOUBLE_EQ(WilcoxonSignedRank({1, 2, -3, 4, -5, 6, 7, 8, 9, 10}), 50.0 / 1024);
  std::vector<double> twenty;
  for (int i = 1; i <= 20; ++i) twenty.push_back(i == 20 || i == 19 || i == 13 ? -i : i);  // T = 52
  EXPECT_NEAR(WilcoxonSignedRank(twenty), 0.0484, 5e-5);
}

// The depths of Hollander and Wolfe's example (depression scale, 9 patients): V = 40, p = 0.0391.
TEST(WilcoxonTest, AgreesWithATextbookExample) {
  const std::vector<double> before = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> after = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> differences;
  for (size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - after[i]);
  EXPECT_NEAR(WilcoxonSignedRank(differences), 0.0390625, 1e-9);
}

TEST(WilcoxonTest, TiesAndZerosAreTakenInto) {
  EXPECT_DOUBLE_EQ(WilcoxonSignedRank({}), 1);
  EXPECT_DOUBLE_EQ(WilcoxonSignedRank({0, 0}), 1);
  EXPECT_DOUBLE_EQ(WilcoxonSignedRank({0, 1, 2, 3, 4, 5}), 2.0 / 32);
  // All ranks tie at 3.5; T = 3.5 of 21. Variance 6*7*13/24 - (6^3-6)/48 = 18.375.
  const double z = (10.5 - 3.5 - 0.5) / std::sqrt(18.375);
  EXPECT_NEAR(WilcoxonSignedRank({1, 1, 1, 1, 1, -1}), std::erfc(z / std::sqrt(2.0)), 1e-12);
}

// SciPy 1.17.1, scipy.stats.wilcoxon.
TEST(WilcoxonTest, AgreesWithSciPy) {
  // method='exact'
  EXPECT_NEAR(WilcoxonSignedRank(
                  {0.21, -0.05, 0.13, 0.34, -0.02, 0.08, 0.27, 0.11, -0.16, 0.19, 0.05001, 0.42}),
              0.02099609375, 1e-12);
  // method='approx', correction=True: ties and a zero.
  EXPECT_NEAR(WilcoxonSignedRank({1, 1, 2, -1, 3, 3, -2, 4, 5, 5, 0, -1, 2, 6, 7, 0, 2, -3, 8, 1}),
              0.008149883132607125, 1e-12);
  // The same for 30 differences without ties.
  EXPECT_NEAR(WilcoxonSignedRank({0.301,  0.599,  0.026,  -0.591, -0.155, -0.692, 0.36,   1.64,
                                  -0.192, -0.32,  0.79,   0.657,  0.405,  -0.63,  0.271,  0.995,
                                  -1.044, -0.158, -1.601, -0.99,  -1.542, 0.065,  -0.967, 0.571,
                                  0.457,  0.113,  -2.217, -0.239, 0.251,  0.413}),
              0.7576828114579746, 1e-12);
}

// Under the null the test errs as often as it says.
TEST(WilcoxonTest, HoldsItsLevel) {
  Rng rng(11);
  int small = 0;
  constexpr int kTrials = 4000;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> differences;
    for (int j = 0; j < 12; ++j) differences.push_back(rng.NextDouble() - 0.5);
    small += WilcoxonSignedRank(differences) <= 0.05;
  }
  EXPECT_LT(small, kTrials * 0.06);
  EXPECT_GT(small, kTrials * 0.03);
}

TEST(HolmTest, AgreesWithAWorkedExample) {
  EXPECT_THAT(
      HolmCorrection({0.01, 0.04, 0.03}),
      ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12)));
  EXPECT_THAT(HolmCorrection({0.5, 0.9}), ElementsAre(1, 1));
  EXPECT_TRUE(HolmCorrection({}).empty());
}

// statsmodels 0.15.0, statsmodels.stats.multitest.multipletests(method='holm').
TEST(HolmTest, AgreesWithStatsmodels) {
  EXPECT_THAT(
      HolmCorrection({0.0131, 0.0004, 0.21, 0.041, 0.03, 0.0409}),
      ElementsAre(DoubleNear(0.0655, 1e-12), DoubleNear(0.0024, 1e-12), DoubleNear(0.21, 1e-12),
                  DoubleNear(0.1227, 1e-12), DoubleNear(0.12, 1e-12), DoubleNear(0.1227, 1e-12)));
}

// SciPy 1.17.1, scipy.stats.bootstrap(method='percentile', n_resamples=1000000); two seeds of it
// agree to the third digit.
TEST(BootstrapTest, AgreesWithSciPy) {
  const std::vector<std::vector<double>> values = {
      {0.12, 0.55, 0.31, 0.98, 0.47, 0.66, 0.05, 0.71, 0.39, 0.84}};
  const Estimate wide = BootstrapMean(values, {.confidence = 0.95, .samples = 200000});
  EXPECT_NEAR(wide.value, 0.508, 1e-12);
  EXPECT_NEAR(wide.low, 0.331, 0.002);
  EXPECT_NEAR(wide.high, 0.684, 0.002);
  const Estimate narrow = BootstrapMean(values, {.confidence = 0.8, .samples = 200000});
  EXPECT_NEAR(narrow.low, 0.392, 0.002);
  EXPECT_NEAR(narrow.high, 0.624, 0.002);
}

TEST(BootstrapTest, CoversTheMeanAsOftenAsItSays) {
  Rng rng(5);
  int covered = 0;
  constexpr int kTrials = 400;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 30; ++j) values.push_back(rng.NextDouble());
    const Estimate mean = BootstrapMean({values}, {.samples = 400, .seed = rng.Next()});
    covered += mean.low <= 0.5 && 0.5 <= mean.high;
  }
  EXPECT_GT(covered, kTrials * 0.90);  // 0.95 but for the percentile bootstrap's own small error
  EXPECT_LT(covered, kTrials * 0.985);
}

TEST(BootstrapTest, TasksWeighAlikeAndAreDrawnToo) {
  const Estimate mean = BootstrapMean({{1, 1, 1, 1}, {3}}, {});
  EXPECT_DOUBLE_EQ(mean.value, 2);
  EXPECT_DOUBLE_EQ(mean.low, 1);
  EXPECT_DOUBLE_EQ(mean.high, 3);
  const Estimate one = BootstrapMean({{}, {2, 2}}, {});
  EXPECT_DOUBLE_EQ(one.low, 2);
  EXPECT_DOUBLE_EQ(one.high, 2);
  EXPECT_DOUBLE_EQ(BootstrapMean({}, {}).value, 0);
  // The same seed gives the same interval.
  const std::vector<std::vector<double>> values = {{1, 2, 5, 9}, {0, 4}};
  EXPECT_EQ(BootstrapMean(values, {.seed = 3}).low, BootstrapMean(values, {.seed = 3}).low);
}

TEST(ImprovementProbabilityTest, IsTheShareOfPairsWithTiesHalf) {
  // 2 x 3 pairs: 3>1, 3>2, 3=3, 1=1, 1<2, 1<3.
  EXPECT_DOUBLE_EQ(ImprovementProbability({{3, 1}}, {{1, 2, 3}}, {}).value, (2 + 0.5 + 0.5) / 6);
  // SciPy 1.17.1, scipy.stats.mannwhitneyu: U = 25 of 30.
  EXPECT_DOUBLE_EQ(
      ImprovementProbability({{1.9, 2.4, 3.1, 2.2, 2.8, 3.0}}, {{1.7, 2.2, 2.0, 2.4, 1.5}}, {})
          .value,
      25.0 / 30);
  const Estimate sure = ImprovementProbability({{5, 6}, {7}}, {{1, 2}, {3}}, {});
  EXPECT_DOUBLE_EQ(sure.low, 1);
  EXPECT_DOUBLE_EQ(sure.high, 1);
  const Estimate even = ImprovementProbability({{1, 2, 3, 4}}, {{1, 2, 3, 4}}, {});
  EXPECT_DOUBLE_EQ(even.value, 0.5);
  EXPECT_LT(even.low, 0.3);
  EXPECT_GT(even.high, 0.7);
}

TEST(MedianTest, OfEvenAndOddCounts) {
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(Median({}), 0);
}

}  // namespace
}  // namespace ksearch
