#include "cli/compare/experiment_report.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/compare/experiment_plan.h"
#include "common/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/repetitions.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

v1::Experiment TwoArms(int tasks, int seeds) {
  std::string text = absl::StrCat("name: 'e' seeds: ", seeds,
                                  " common { rounds: 10 } bootstrap_samples: 2000"
                                  " arms { name: 'a' config { strategy: 'best_of_n' } }"
                                  " arms { name: 'b' config { strategy: 'world_model' } }");
  for (int task = 1; task <= tasks; ++task) absl::StrAppend(&text, " tasks: 't", task, "'");
  return ParseExperiment(text, "f").value();
}

v1::TrialSummary Trial(int task, const std::string& arm, int seed, double speedup,
                       int64_t tokens = 1000) {
  v1::TrialSummary trial;
  trial.set_task(absl::StrCat("t", task));
  trial.set_arm(arm);
  trial.set_seed(static_cast<uint64_t>(seed));
  trial.set_state("finished");
  trial.set_evaluations(10);
  trial.set_tokens(tokens);
  trial.set_judged(10);
  trial.set_built(8);
  trial.set_passed(5);
  trial.set_speedup(speedup);
  trial.set_remeasured(true);
  trial.set_best_screened(speedup * 1.1);
  trial.set_optimism(1.1);
  v1::CurvePoint* step = trial.add_curve();
  step->set_evaluations(5);
  step->set_tokens(tokens / 2);
  step->set_best(speedup);
  v1::CurvePoint* end = trial.add_curve();
  end->set_evaluations(10);
  end->set_tokens(tokens);
  end->set_best(speedup);
  return trial;
}

TEST(ExperimentReportTest, AClearDifferenceIsClaimedWithItsInterval) {
  std::vector<v1::TrialSummary> trials;
  for (int task = 1; task <= 2; ++task) {
    for (int seed = 1; seed <= 8; ++seed) {
      trials.push_back(Trial(task, "a", seed, 2 + 0.01 * seed));
      trials.push_back(Trial(task, "b", seed, 3 + 0.02 * seed));
    }
  }
  const v1::ExperimentReport report = MakeReport(TwoArms(2, 8), trials);
  EXPECT_EQ(report.trials_missing(), 0);
  ASSERT_EQ(report.comparisons_size(), 1);
  const v1::ArmComparison& comparison = report.comparisons(0);
  EXPECT_EQ(comparison.arm(), "b");
  EXPECT_EQ(comparison.reference(), "a");
  EXPECT_EQ(comparison.pairs(), 16);
  EXPECT_NEAR(comparison.ratio().value(), 1.512, 0.01);
  EXPECT_GT(comparison.ratio().low(), 1.4);
  EXPECT_LT(comparison.p_value(), 0.001);
  EXPECT_FALSE(comparison.p_value_over_tasks());
  EXPECT_EQ(comparison.improvement_probability().value(), 1);
  EXPECT_TRUE(comparison.beats());
  EXPECT_EQ(comparison.cost_axis(), "tokens");
  EXPECT_THAT(comparison.claim(), HasSubstr("b beats a: 1.51"));
  const v1::ArmSummary& arm = report.arms(0);
  EXPECT_EQ(arm.trials(), 16);
  EXPECT_NEAR(arm.built_rate(), 0.8, 1e-12);
  EXPECT_NEAR(arm.passed_rate(), 0.5, 1e-12);
  EXPECT_NEAR(arm.optimism(), 1.1, 1e-12);
  // Half of the evaluations at ln 2.0..., the other half at the baseline.
  EXPECT_NEAR(arm.area(), std::log(2.045) / 2, 0.01);
  EXPECT_EQ(arm.fast(3).at_least(), 2);
  EXPECT_EQ(arm.fast(3).share(), 1);
  EXPECT_EQ(report.arms(1).strategy(), "world_model");
}

TEST(ExperimentReportTest, WhatMayBeChanceIsNotClaimed) {
  std::vector<v1::TrialSummary> trials;
  for (int seed = 1; seed <= 6; ++seed) {
    trials.push_back(Trial(1, "a", seed, seed % 2 == 0 ? 2 : 4));
    trials.push_back(Trial(1, "b", seed, seed % 3 == 0 ? 5 : 2.4));
  }
  const v1::ExperimentReport report = MakeReport(TwoArms(1, 6), trials);
  EXPECT_THAT(report.comparisons(0).claim(), HasSubstr("no difference is shown between b and a: "));
  EXPECT_FALSE(report.comparisons(0).beats());
  EXPECT_THAT(report.cautions(), testing::Contains(HasSubstr("There is one task")));
}

// Faster at equal evaluations, but certainly slower at equal tokens: that is not a win.
TEST(ExperimentReportTest, NobodyBeatsByPayingMore) {
  std::vector<v1::TrialSummary> trials;
  for (int seed = 1; seed <= 8; ++seed) {
    trials.push_back(Trial(1, "a", seed, 2, 1000));
    trials.push_back(Trial(1, "b", seed, 2.5, 10000));  // reached at 5000 tokens
  }
  const v1::ExperimentReport report = MakeReport(TwoArms(1, 8), trials);
  const v1::ArmComparison& comparison = report.comparisons(0);
  EXPECT_NEAR(comparison.ratio().value(), 1.25, 1e-9);
  EXPECT_NEAR(comparison.ratio_at_equal_cost().value(), 0.5, 1e-9);
  EXPECT_FALSE(comparison.beats());
  EXPECT_THAT(comparison.claim(), AllOf(HasSubstr("faster than a at equal evaluations"),
                                        HasSubstr("but slower at equal tokens")));
}

TEST(ExperimentReportTest, MedianOfTasksAreTestedOnceThereAreSix) {
  std::vector<v1::TrialSummary> trials;
  for (int task = 1; task <= 6; ++task) {
    for (int seed = 1; seed <= 3; ++seed) {
      trials.push_back(Trial(task, "a", seed, 2));
      trials.push_back(Trial(task, "b", seed, 2 + 0.1 * task));
    }
  }
  const v1::ExperimentReport report = MakeReport(TwoArms(6, 3), trials);
  EXPECT_TRUE(report.comparisons(0).p_value_over_tasks());
  EXPECT_DOUBLE_EQ(report.comparisons(0).p_value(), 2.0 / 64);
}

TEST(ExperimentReportTest, MissingAndUnmeasuredRunsAreSaid) {
  v1::TrialSummary one = Trial(1, "a", 1, 2), two = Trial(1, "b", 1, 2);
  two.set_state("failed");
  two.set_remeasured(false);
  two.set_flagged(2);
  const v1::ExperimentReport report = MakeReport(TwoArms(1, 4), {one, two});
  EXPECT_EQ(report.trials_missing(), 6);
  std::string cautions;
  for (const std::string& caution : report.cautions()) absl::StrAppend(&cautions, caution, "\n");
  EXPECT_THAT(cautions, AllOf(HasSubstr("6 of 8 runs have not ended"), HasSubstr("1 runs failed"),
                              HasSubstr("1 runs were not measured again"),
                              HasSubstr("b and a share only 1 pairs"),
                              HasSubstr("10.0 % above what it measured again"),
                              HasSubstr("b had 2 programs that were refused as cheats")));
}

// Two identical arms are called different about as often as the level says, and not more.
TEST(ExperimentReportTest, EqualArmsAreSeldomCalledDifferent) {
  Rng rng(9);
  const v1::Experiment experiment = TwoArms(1, 20);
  int claimed = 0;
  constexpr int kTimes = Repetitions(200, 30);
  for (int i = 0; i < kTimes; ++i) {
    std::vector<v1::TrialSummary> trials;
    for (int seed = 1; seed <= 20; ++seed) {
      trials.push_back(Trial(1, "a", seed, 1 + rng.NextDouble()));
      trials.push_back(Trial(1, "b", seed, 1 + rng.NextDouble()));
    }
    const v1::ExperimentReport report = MakeReport(experiment, trials);
    const v1::Interval& ratio = report.comparisons(0).ratio();
    claimed += ratio.low() > 1 || ratio.high() < 1;
  }
  EXPECT_LE(claimed, kTimes * 0.11);
}

}  // namespace
}  // namespace ksearch
