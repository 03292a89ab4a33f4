#include "gpu_worker/verifier/judges/sampling_rule.h"

#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

const std::vector<double> kRow = {0.1, 0.4, 0.05, 0.25, 0.2};

std::vector<int64_t> Allowed(const std::vector<double>& row, const DrawLimits& limits) {
  std::vector<int64_t> tokens;
  for (int64_t token = -1; token <= static_cast<int64_t>(row.size()); ++token) {
    if (MayBeDrawn(row, token, limits)) tokens.push_back(token);
  }
  return tokens;
}

TEST(SamplingRuleTest, LimitsSayWhichTokensMayBeDrawn) {
  EXPECT_THAT(Allowed(kRow, {}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Allowed(kRow, {.top_k = 2}), ElementsAre(1, 3));
  // Not below the number of tokens, or not above 0: no limit.
  EXPECT_THAT(Allowed(kRow, {.top_k = 5}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Allowed(kRow, {.top_k = -3}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Allowed(kRow, {.top_p = 0.66}), ElementsAre(1, 3));
  EXPECT_THAT(Allowed(kRow, {.top_p = 0.82, .margin = 0.05}), ElementsAre(1, 3, 4));
  EXPECT_THAT(Allowed(kRow, {.top_p = 1}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Allowed(kRow, {.top_k = 1, .top_p = 0.9}), ElementsAre(1));
  // The likeliest always.
  EXPECT_THAT(Allowed(kRow, {.top_p = 0.1}), ElementsAre(1));
  // Equally likely as the last one that top_k admits.
  EXPECT_THAT(Allowed({0.2, 0.3, 0.2, 0.3}, {.top_k = 3}), ElementsAre(0, 1, 2, 3));
}

TEST(SamplingRuleTest, SharesAreThoseOfTheTokensThatMayBeDrawn) {
  EXPECT_THAT(SharesOf(kRow, {.top_k = 2}),
              ElementsAre(0, DoubleNear(0.4 / 0.65, 1e-12), 0, DoubleNear(0.25 / 0.65, 1e-12), 0));
  for (const DrawLimits& limits :
       {DrawLimits{}, DrawLimits{.top_k = 3}, DrawLimits{.top_p = 0.7, .margin = 0.05},
        DrawLimits{.top_k = 2, .top_p = 0.9}}) {
    const std::vector<double> shares = SharesOf(kRow, limits);
    for (size_t token = 0; token < shares.size(); ++token) {
      EXPECT_EQ(shares[token] > 0, MayBeDrawn(kRow, static_cast<int64_t>(token), limits)) << token;
    }
  }
  EXPECT_THAT(SharesOf({0.2, 0.3, 0.2, 0.3}, {.top_k = 3}), ElementsAre(0.2, 0.3, 0.2, 0.3));
}

TEST(SamplingRuleTest, PlacesOfHonestTokensAreEvenAndThoseOfOthersAreNot) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> even;
  std::discrete_distribution<int64_t> honest(kRow.begin(), kRow.end());
  const std::vector<double> shares = SharesOf(kRow, {});
  std::vector<double> places, greedy, uniform;
  for (int i = 0; i < 2000; ++i) {
    places.push_back(PlaceOf(shares, honest(random), even(random)));
    greedy.push_back(PlaceOf(shares, 1, even(random)));
    uniform.push_back(PlaceOf(shares, i % 5, even(random)));
  }
  EXPECT_LT(DistanceFromEven(places), 3 / std::sqrt(2000.0));
  EXPECT_NEAR(DistanceFromEven(greedy), 0.6, 0.01);
  EXPECT_NEAR(DistanceFromEven(uniform), 0.25, 0.03);
  EXPECT_NEAR(DistanceFromEven({0.5}), 0.5, 1e-12);
}

TEST(SamplingRuleTest, DistanceIsHalfTheSumOfDifferencesAndByChanceWhatItSays) {
  const std::vector<double> shares = {0.5, 0.5, 0};
  EXPECT_NEAR(DistanceOf({10, 0, 0}, 10, shares), 0.5, 1e-12);
  EXPECT_NEAR(DistanceOf({5, 4, 1}, 10, shares), 0.1, 1e-12);
  // The mean over many draws.
  std::mt19937_64 random(11);
  std::vector<double> row(200);
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) sum += row[i] = 1.0 / static_cast<double>(i + 3);
  for (double& each : row) each /= sum;
  std::discrete_distribution<size_t> honest(row.begin(), row.end());
  double mean = 0;
  constexpr int kTimes = 50, kDrawn = 1000;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<int64_t> counts(row.size());
    for (int i = 0; i < kDrawn; ++i) ++counts[honest(random)];
    mean += DistanceOf(counts, kDrawn, row) / kTimes;
  }
  EXPECT_NEAR(mean, DistanceByChance(row, kDrawn), 0.02 * mean);
}

}  // namespace
}  // namespace ksearch
