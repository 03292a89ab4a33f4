#include "gpu_worker/verifier/timing/speedup_estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/rng.h"
#include "gpu_worker/verifier/timing/student_t.h"

namespace ksearch {
namespace {

TEST(StudentQuantileTest, MatchesTables) {
  const std::tuple<double, int, double> rows[] = {
      {0.5, 3, 0},          {0.025, 1, 12.7062}, {0.025, 2, 4.3027},   {0.025, 3, 3.1824},
      {0.025, 5, 2.5706},   {0.025, 9, 2.2622},  {0.025, 30, 2.0423},  {0.025, 1000, 1.9623},
      {0.0001, 3, 22.2037}, {0.001, 4, 7.1732},  {0.00001, 2, 223.60}, {0.0005, 10, 4.5869},
  };
  for (const auto& [tail, degrees, expected] : rows) {
    EXPECT_NEAR(StudentQuantile(tail, degrees), expected, 6e-5 * std::max(1.0, expected))
        << tail << " " << degrees;
  }
}

double Normal(Rng* rng) {
  return std::sqrt(-2 * std::log(1 - rng->NextDouble())) * std::cos(2 * M_PI * rng->NextDouble());
}

// Adds one launch of `blocks` blocks to every workload. All workloads share one half of the
// variance of the noise between launches.
void AddLaunch(double effect, double launch_noise, double block_noise, int blocks, Rng* rng,
               std::vector<LaunchBlocks>* workloads) {
  const double shared = launch_noise * std::sqrt(0.5) * Normal(rng);
  for (LaunchBlocks& launches : *workloads) {
    const double shift = shared + launch_noise * std::sqrt(0.5) * Normal(rng);
    std::vector<double>& launch = launches.emplace_back();
    for (int k = 0; k < blocks; ++k) launch.push_back(effect + shift + block_noise * Normal(rng));
  }
}

TEST(SpeedupEstimateTest, ConstantLaunchesHaveNoWidth) {
  const SpeedupEstimate estimate =
      EstimateSpeedup({{{0.5, 0.5}, {0.5, 0.5}}, {{0.1}, {0.1}}}, 0.975);
  EXPECT_DOUBLE_EQ(estimate.combined.mean, 0.3);
  EXPECT_NEAR(estimate.combined.interval.low, 0.3, 1e-12);
  EXPECT_NEAR(estimate.workloads[1].interval.high, 0.1, 1e-12);
}

TEST(SpeedupEstimateTest, IsTheTIntervalOfTheLaunches) {
  // The third block of the last launch has a pause. Launches -0.1, 0, 0.1: error 0.1 / sqrt(3).
  const LaunchBlocks launches = {{-0.1, -0.1}, {0, 0}, {0.1, 0.1, 5}};
  const double half = 4.30265273 * 0.1 / std::sqrt(3);
  const SpeedupEstimate one = EstimateSpeedup({launches}, 0.975);
  EXPECT_NEAR(one.combined.mean, 0, 1e-12);
  EXPECT_NEAR(one.combined.interval.low, -half, 1e-8);
  EXPECT_NEAR(one.combined.interval.high, half, 1e-8);
  // More workloads do not average out an effect of a launch that they share.
  const SpeedupEstimate both = EstimateSpeedup({launches, launches}, 0.975);
  EXPECT_NEAR(both.combined.interval.high, half, 1e-8);
}

TEST(SpeedupEstimateTest, OneLaunchSaysNothingOfItsScatter) {
  const SpeedupEstimate estimate = EstimateSpeedup({{{1, 1, 1}}}, 0.975);
  EXPECT_EQ(estimate.combined.mean, 1);
  EXPECT_TRUE(std::isinf(estimate.combined.interval.high));
  EXPECT_EQ(Judge(estimate, 0.01, 0.03), v1::Comparison::UNDECIDED);
}

TEST(SpeedupEstimateTest, TheCombinedValueIsOfLaunchesThatAllWorkloadsHave) {
  const SpeedupEstimate estimate = EstimateSpeedup({{{0.2}, {0.4}}, {{-0.2}, {-0.4}, {-0.9}}}, 0.9);
  EXPECT_NEAR(estimate.combined.mean, 0, 1e-12);
  EXPECT_NEAR(estimate.combined.interval.high, 0, 1e-12);
  EXPECT_NEAR(estimate.workloads[0].mean, 0.3, 1e-12);
  EXPECT_NEAR(estimate.workloads[1].mean, -0.5, 1e-12);
  // Student's t at 90 % with 2 degrees of freedom; errors 0.2082 and, of the other, 0.1.
  EXPECT_NEAR(estimate.workloads[1].interval.high, -0.5 + 1.88562 * 0.2081666, 1e-5);
  EXPECT_NEAR(estimate.workloads[0].interval.high, 0.3 + 3.07768 * 0.1, 1e-5);
}

TEST(SpeedupEstimateTest, StartingFirstIsNoPartOfTheResult) {
  // Measured on an H200 with a program of 5.4 us against itself.
  const LaunchBlocks launches = {{0.0164}, {-0.0172}, {0.0153}, {-0.0181}};
  const SpeedupEstimate scattered = EstimateSpeedup({launches}, 0.99);
  EXPECT_EQ(Judge(scattered, 0.01, 0.03), v1::Comparison::UNDECIDED);
  const SpeedupEstimate removed =
      EstimateSpeedup({launches, launches}, 0.99, {}, StartOrder::kRemoved);
  EXPECT_NEAR(removed.combined.mean, -0.0009, 1e-12);
  EXPECT_EQ(Judge(removed, 0.01, 0.03), v1::Comparison::EQUAL);
  EXPECT_NEAR(removed.workloads[1].interval.high, removed.combined.interval.high, 1e-12);
}

TEST(SpeedupEstimateTest, TheScatterWithinTheOrdersMakesTheInterval) {
  // Means 1.5 and 4.5, squares 0.5 and 4.5 around them: 2 degrees of freedom.
  const SpeedupEstimate estimate =
      EstimateSpeedup({{{1}, {3}, {2}, {6}}}, 0.975, {}, StartOrder::kRemoved);
  EXPECT_NEAR(estimate.combined.mean, 3, 1e-12);
  EXPECT_NEAR(estimate.combined.interval.high, 3 + 4.30265273 * std::sqrt(2.5 / 4), 1e-7);
  // An order with fewer launches weighs as much.
  EXPECT_NEAR(EstimateSpeedup({{{1}, {3}, {2}}}, 0.975, {}, StartOrder::kRemoved).combined.mean,
              2.25, 1e-12);
  for (const LaunchBlocks& few : {LaunchBlocks{{1}}, LaunchBlocks{{1}, {3}}}) {
    EXPECT_TRUE(
        std::isinf(EstimateSpeedup({few}, 0.975, {}, StartOrder::kRemoved).combined.interval.high));
  }
}

// Seven official cases 20 % faster, four held-out ones 40 % slower, as a program for TriMul was.
TEST(SpeedupEstimateTest, GuardsAreNotRanked) {
  std::vector<LaunchBlocks> workloads;
  GuardFactors guards;
  for (int i = 0; i < 11; ++i) {
    const double ratio = i < 7 ? 0.2 : -0.4;
    workloads.push_back({{ratio}, {ratio + 0.001}, {ratio - 0.001}, {ratio}});
    guards.push_back(i < 7 ? std::nullopt : std::optional(2.0));
  }
  const SpeedupEstimate all = EstimateSpeedup(workloads, 0.975);
  EXPECT_NEAR(all.combined.mean, (7 * 0.2 - 4 * 0.4) / 11, 1e-9);
  EXPECT_NE(Judge(all, 0.01, 0.03), v1::Comparison::IMPROVED);
  const SpeedupEstimate official = EstimateSpeedup(workloads, 0.975, guards);
  EXPECT_NEAR(official.combined.mean, 0.2, 1e-9);
  EXPECT_EQ(Judge(official, 0.01, 0.03), v1::Comparison::IMPROVED);
  EXPECT_TRUE(IsSettled(official, v1::Comparison::IMPROVED, 0.03));
  EXPECT_FALSE(DecidesAlone(workloads, 10, {-0.4}, 0.99, 0.01, 0.03, guards));
  // One of them is more than twice as slow.
  workloads[10] = {{-0.8}, {-0.801}, {-0.799}, {-0.8}};
  const SpeedupEstimate guarded = EstimateSpeedup(workloads, 0.975, guards);
  EXPECT_EQ(Judge(guarded, 0.01, 0.03), v1::Comparison::MIXED);
  EXPECT_TRUE(DecidesAlone(workloads, 10, {-0.8}, 0.99, 0.01, 0.03, guards));
  // A slower official workload still prevents an improvement.
  workloads[10] = workloads[9];
  workloads[0] = {{-0.1}, {-0.101}, {-0.099}, {-0.1}};
  EXPECT_EQ(Judge(EstimateSpeedup(workloads, 0.975, guards), 0.01, 0.03), v1::Comparison::MIXED);
}

TEST(DecidingFirstTest, TheWorstComesFirst) {
  EXPECT_EQ(DecidingFirst({{}, {}, {}}), std::vector<size_t>({0, 1, 2}));
  EXPECT_EQ(DecidingFirst({{{0.5}, {0.3}}, {{0.1}, {0.3}}, {{-0.1}, {0.2}}}),
            std::vector<size_t>({2, 1, 0}));
}

TEST(DecidingFirstTest, ACertainRegressionDecidesAlone) {
  const LaunchBlocks faster = {{0.5}, {0.52}, {0.48}};
  const LaunchBlocks slower = {{-0.2}, {-0.21}, {-0.19}};
  const auto decides = [](const std::vector<LaunchBlocks>& workloads, size_t index, double ratio) {
    return DecidesAlone(workloads, index, {ratio}, 0.99, 0.01, 0.03);
  };
  EXPECT_TRUE(decides({faster, slower}, 1, -0.2));
  EXPECT_FALSE(decides({faster, slower}, 1, 0.2));  // no longer certain
  EXPECT_FALSE(decides({faster, slower}, 0, 0.5));  // all others are still to come
  // Slower in the mean too, but not for certain: it may be worse.
  EXPECT_FALSE(decides({{{0.2}, {-0.3}, {0.1}}, slower}, 1, -0.2));
  // Too few launches for an interval of all workloads.
  EXPECT_FALSE(decides({{{0.5}, {0.5}}, {{-0.2}, {-0.2}}}, 1, -0.2));
}

// Bounds at 97.5 % each make an interval of 95 %. A share of 2000 trials has a standard error of
// 0.5 %.
TEST(SpeedupEstimateTest, CoversAsOftenAsItSaysWhateverTheNoise) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "needs thousands of trials; EqualAndSlightlySlowerProgramsAreToldApart has some";
#endif
  constexpr int kTrials = 2000;
  constexpr double kEffect = 0.1;
  uint64_t seed = 1;
  for (const int launches : {3, 4, 8}) {
    for (const double launch_noise : {0.0, 0.01, 0.03}) {
      for (const double block_noise : {0.003, 0.01}) {
        Rng rng(++seed);
        int covered = 0, of_workload = 0;
        for (int trial = 0; trial < kTrials; ++trial) {
          std::vector<LaunchBlocks> workloads(2);
          for (int i = 0; i < launches; ++i) {
            AddLaunch(kEffect, launch_noise, block_noise, 3, &rng, &workloads);
          }
          const SpeedupEstimate estimate = EstimateSpeedup(workloads, 0.975);
          const auto covers = [](const LogRatio& ratio) {
            return ratio.interval.low <= kEffect && kEffect <= ratio.interval.high;
          };
          covered += covers(estimate.combined);
          of_workload += covers(estimate.workloads[0]);
        }
        EXPECT_GE(covered, kTrials * 93 / 100)
            << launches << " " << launch_noise << " " << block_noise;
        EXPECT_LE(covered, kTrials * 97 / 100)
            << launches << " " << launch_noise << " " << block_noise;
        EXPECT_GE(of_workload, kTrials * 93 / 100);
        EXPECT_LE(of_workload, kTrials * 97 / 100);
      }
    }
  }
}

TEST(SpeedupEstimateTest, CoversAsOftenAsItSaysWhicheverSideStartsFirst) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "needs thousands of trials; StartingFirstIsNoPartOfTheResult has one";
#endif
  constexpr int kTrials = 2000;
  uint64_t seed = 300;
  for (const int launches : {4, 5, 8}) {
    for (const double of_order : {0.0, 0.016}) {
      Rng rng(++seed);
      int covered = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<LaunchBlocks> workloads(2);
        for (int i = 0; i < launches; ++i) {
          AddLaunch(i % 2 == 0 ? of_order : -of_order, 0.002, 0.002, 3, &rng, &workloads);
        }
        const LogRatio combined =
            EstimateSpeedup(workloads, 0.975, {}, StartOrder::kRemoved).combined;
        covered += combined.interval.low <= 0 && 0 <= combined.interval.high;
      }
      EXPECT_GE(covered, kTrials * 93 / 100) << launches << " " << of_order;
      EXPECT_LE(covered, kTrials * 97 / 100) << launches << " " << of_order;
    }
  }
}

TEST(LooksTest, EndWithTheMostLaunchesAllowed) {
  EXPECT_EQ(InterimLooks(1), std::vector<int>({1}));
  EXPECT_EQ(InterimLooks(4), std::vector<int>({4}));
  EXPECT_EQ(InterimLooks(5), std::vector<int>({4, 5}));
  EXPECT_EQ(InterimLooks(8), std::vector<int>({4, 6, 8}));
  EXPECT_DOUBLE_EQ(ConfidenceOfLook(0.97, 3), 0.99);
}

TEST(LooksTest, AnImprovementThatMayBeMixedIsNotSettled) {
  SpeedupEstimate estimate;
  estimate.workloads = {{0.5, {0.4, 0.6}}, {-0.05, {-0.1, 0}}};
  EXPECT_FALSE(IsSettled(estimate, v1::Comparison::IMPROVED, 0.03));
  EXPECT_TRUE(IsSettled(estimate, v1::Comparison::MIXED, 0.03));
  EXPECT_FALSE(IsSettled(estimate, v1::Comparison::UNDECIDED, 0.03));
  estimate.workloads[1].mean = -0.02;
  EXPECT_TRUE(IsSettled(estimate, v1::Comparison::IMPROVED, 0.03));
}

struct Sequence {
  SpeedupEstimate estimate;
  v1::Comparison::Verdict verdict = v1::Comparison::UNDECIDED;
};

// A whole confirmation: decides after 4, 6 and 8 launches, up to most_launches, and ends at the
// first settled decision.
Sequence Confirm(int most_launches, double effect, double launch_noise, double block_noise,
                 Rng* rng) {
  std::vector<LaunchBlocks> workloads(3);
  Sequence sequence;
  const std::vector<int> looks = InterimLooks(most_launches);
  int launches = 0;
  for (const int look : looks) {
    for (; launches < look; ++launches) {
      AddLaunch(effect, launch_noise, block_noise, 3, rng, &workloads);
    }
    sequence.estimate =
        EstimateSpeedup(workloads, ConfidenceOfLook(0.975, static_cast<int>(looks.size())));
    sequence.verdict = Judge(sequence.estimate, 0.01, 0.03);
    if (IsSettled(sequence.estimate, sequence.verdict, 0.03)) break;
  }
  return sequence;
}

TEST(LooksTest, LookingAgainDoesNotMakeErrorsMoreFrequent) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "needs thousands of trials; EqualAndSlightlySlowerProgramsAreToldApart has some";
#endif
  constexpr int kTrials = 2000;
  uint64_t seed = 100;
  for (const auto& [most_launches, launch_noise] :
       {std::pair(8, 0.0), {8, 0.004}, {8, 0.03}, {6, 0.004}, {6, 0.03}}) {
    Rng rng(++seed);
    int improved = 0, covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      // Just below the smallest effect that counts as improved.
      const double effect = std::log(1.01);
      const Sequence sequence = Confirm(most_launches, effect, launch_noise, 0.01, &rng);
      improved += sequence.verdict == v1::Comparison::IMPROVED;
      covered += sequence.estimate.combined.interval.low <= effect &&
                 effect <= sequence.estimate.combined.interval.high;
    }
    EXPECT_LE(improved, kTrials * 35 / 1000)
        << most_launches << " " << launch_noise;  // 2.5 % and two standard errors
    EXPECT_GE(covered, kTrials * 93 / 100) << most_launches << " " << launch_noise;
    EXPECT_LE(covered, kTrials * 99 / 100) << most_launches << " " << launch_noise;
  }
}

TEST(LooksTest, EqualAndSlightlySlowerProgramsAreToldApart) {
  constexpr int kTrials = 300;
  Rng rng(7);
  int equal = 0, worse = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    equal += Confirm(8, 0, 0.004, 0.004, &rng).verdict == v1::Comparison::EQUAL;
    worse += Confirm(8, -0.02, 0.004, 0.004, &rng).verdict == v1::Comparison::WORSE;
  }
  EXPECT_GE(equal, kTrials * 97 / 100);
  EXPECT_GE(worse, kTrials * 95 / 100);
}

}  // namespace
}  // namespace ksearch
