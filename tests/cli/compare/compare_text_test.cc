#include <string>
#include <vector>

#include "cli/compare/experiment_cost.h"
#include "cli/compare/experiment_plan.h"
#include "cli/compare/experiment_report.h"
#include "cli/compare/report_page.h"
#include "cli/compare/report_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Experiment Experiment(const std::string& more = "") {
  return ParseExperiment(
             "name: 'e' tasks: 't' seeds: 2 common { rounds: 100 } arms { name: 'a' } "
             "arms { name: 'b' } bootstrap_samples: 200 " +
                 more,
             "f")
      .value();
}

std::vector<ArmEstimate> Estimates() {
  ArmEstimate each;
  each.task = "t";
  each.device = v1::DEVICE_CLASS_CPU;
  each.workloads = 2;
  each.estimate.mutable_config()->set_rounds(100);
  each.estimate.set_nano_usd(3'000'000'000);
  each.estimate.set_nano_usd_worst(5'000'000'000);
  each.estimate.set_tokens_reserved_first(500);
  each.estimate.set_nano_usd_reserved_first(20'000'000);
  each.estimate.mutable_evaluation_time()->set_seconds(1);
  each.estimate.set_evaluations_recorded(7);
  each.estimate.set_workers(2);
  v1::RunEstimate::Line* line = each.estimate.add_lines();
  line->set_llm_calls(100);
  line->set_input_tokens(4000);
  line->set_output_tokens(1000);
  std::vector<ArmEstimate> estimates(2, each);
  estimates[1].arm = 1;
  return estimates;
}

TEST(ExperimentCostTest, AddsUpRunsAndMeasuringAgain) {
  const v1::ExperimentCost cost = CostOf(Experiment(), Estimates());
  EXPECT_EQ(cost.nano_usd(), 12'000'000'000);
  EXPECT_EQ(cost.nano_usd_worst(), 20'000'000'000);
  EXPECT_EQ(cost.lines(0).runs(), 2);
  EXPECT_EQ(cost.lines(0).llm_calls(), 200);
  EXPECT_EQ(cost.lines(0).tokens(), 10000);
  // 4 runs of 100 evaluations of a second, and 4 + 5 confirmations each of a second and
  // 4 x 2 workloads x 6 launches x 3 blocks x 5 ms.
  EXPECT_NEAR(static_cast<double>(cost.device_time().seconds()), 4 * (100 + 9 * 1.72), 1);
  EXPECT_EQ(cost.workers(), 2);
  EXPECT_THAT(CostText(Experiment(), cost),
              AllOf(HasSubstr("4 runs of 100 evaluations"), HasSubstr("estimated: $12.00"),
                    HasSubstr("0.13 h on devices, 3m51s with the 2 workers"),
                    HasSubstr("No model was asked, and nothing was measured")));
  // Without measuring again.
  EXPECT_NEAR(
      static_cast<double>(
          CostOf(Experiment("remeasuring { top: 0 }"), Estimates()).device_time().seconds()),
      4 * (100 + 4 * 1.72), 1);
}

TEST(ExperimentCostTest, BudgetsThatCannotBeMetAreRefusedByTheirFields) {
  const auto refusal = [](const v1::Experiment& experiment, const v1::Budget& budget) {
    std::vector<ArmEstimate> estimates = Estimates();
    for (ArmEstimate& each : estimates) *each.estimate.mutable_config()->mutable_budget() = budget;
    return std::string(CheckBudgets(experiment, estimates).message());
  };
  v1::Budget budget;
  EXPECT_EQ(refusal(Experiment(), budget), "");
  budget.set_tokens(499);
  EXPECT_THAT(refusal(Experiment(), budget),
              HasSubstr("common.budget.tokens is 499, but the first call of arm 'a' reserves 500"));
  budget.set_tokens(500);
  EXPECT_EQ(refusal(Experiment(), budget), "");
  budget.set_usd("0.01");
  EXPECT_THAT(refusal(Experiment(), budget), HasSubstr("common.budget.usd is 0.01"));
  budget.set_usd("1");
  budget.mutable_gpu_time()->set_nanos(1000);
  EXPECT_THAT(refusal(Experiment(), budget), HasSubstr("common.budget.gpu_time is 1us"));
  budget.clear_gpu_time();
  EXPECT_THAT(refusal(Experiment("max_usd: '11'"), budget),
              HasSubstr("max_usd is 11, but the experiment is estimated at $12.00"));
  EXPECT_EQ(refusal(Experiment("max_usd: '12'"), budget), "");
  EXPECT_THAT(refusal(Experiment("max_device_time { seconds: 100 }"), budget),
              HasSubstr("max_device_time is 1m40s, but the experiment is estimated at 7m"));
}

v1::ExperimentReport Report() {
  std::vector<v1::TrialSummary> trials;
  for (const char* arm : {"a", "b"}) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      v1::TrialSummary trial;
      trial.set_task("t");
      trial.set_arm(arm);
      trial.set_seed(seed);
      trial.set_run_id("t-<1>");
      trial.set_state("finished");
      trial.set_evaluations(100);
      trial.set_speedup(*arm == 'a' ? 2 : 4);
      trial.set_best_screened(trial.speedup());
      trial.set_remeasured(true);
      for (const int at : {40, 100}) {
        v1::CurvePoint* point = trial.add_curve();
        point->set_evaluations(at);
        point->set_tokens(at * 10);
        point->set_best(trial.speedup());
      }
      trials.push_back(trial);
    }
  }
  return MakeReport(Experiment(), trials);
}

TEST(ReportTextTest, HasTablesClaimsAndCautions) {
  EXPECT_THAT(ReportText(Report()),
              AllOf(HasSubstr("experiment e: 4 runs; intervals at 95 %"),
                    HasSubstr("2.00x [2.00, 2.00]"), HasSubstr("b beats a: 2.000x"),
                    HasSubstr("best screened after"), HasSubstr("share only 2 pairs")));
}

TEST(ReportPageTest, IsOneFileThatLoadsNothing) {
  const std::string page = ReportPage(Report());
  EXPECT_THAT(page, AllOf(HasSubstr("<!doctype html>"), HasSubstr("<polyline points=\""),
                          HasSubstr("against evaluations"), HasSubstr("against tokens"),
                          HasSubstr("t-&lt;1&gt;")));
  // There was no cost, so there is no chart of money.
  EXPECT_THAT(page, Not(HasSubstr("against US dollars")));
  EXPECT_THAT(
      page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                  Not(HasSubstr("src=")), Not(HasSubstr("nan")), Not(HasSubstr("inf,"))));
}

}  // namespace
}  // namespace ksearch
