// fast_p over a report, and upstream's folder of a run.
#include "cli/task/fast_p.h"

#include "cli/task/kernelbench_export.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

v1::ProblemStanding* Add(v1::SuiteReport* report, int number, v1::Outcome outcome,
                         double baseline_us, double candidate_us) {
  v1::ProblemStanding* const problem = report->add_problems();
  problem->set_task("kernelbench/l1/" + std::to_string(number));
  problem->set_level("l1");
  problem->set_path("/data/level1/" + std::to_string(number) + "_Name.py");
  problem->set_evaluations(1);
  problem->set_outcome(outcome);
  if (candidate_us > 0) {
    problem->set_candidate_us(candidate_us);
    problem->set_baseline_us(baseline_us);
    problem->set_speedup(baseline_us / candidate_us);
    for (const double factor : {0.9, 1.1}) {
      problem->mutable_candidate()->add_latency_us(factor * candidate_us);
      problem->mutable_baseline()->add_latency_us(factor * baseline_us);
    }
  }
  v1::SourceFile* const file = problem->mutable_sources()->add_files();
  file->set_path("level_1_problem_" + std::to_string(number) + "_sample_0_kernel.py");
  file->set_content("# " + std::to_string(number));
  return problem;
}

v1::SuiteReport Report() {
  v1::SuiteReport report;
  Add(&report, 1, v1::OUTCOME_PASSED, 3000, 1000);
  Add(&report, 2, v1::OUTCOME_PASSED, 900, 1000);
  Add(&report, 10, v1::OUTCOME_INCORRECT, 0, 0)->set_message("wrong numbers");
  Add(&report, 23, v1::OUTCOME_PASSED, 9000, 1000)->set_left_out("degenerate: zeros pass");
  report.add_problems()->set_task("kernelbench/l1/3");  // no program was tried
  return report;
}

TEST(FastPTest, CountsAllProblemsButThoseLeftOut) {
  const FastP fast_p = FastPOf(Report());
  EXPECT_EQ(fast_p.problems, 4);
  EXPECT_EQ(fast_p.attempted, 3);
  EXPECT_EQ(fast_p.correct, 2);
  std::vector<int> counts;
  for (const FastP::Share& share : fast_p.shares) counts.push_back(share.problems);
  EXPECT_THAT(counts, ElementsAre(2, 2, 2, 1, 1, 1));  // p = 0, 0.5, 0.8, 1, 1.5, 2
  EXPECT_NEAR(fast_p.geometric_mean_speedup, std::sqrt(3 * 0.9), 1e-9);
  EXPECT_THAT(FastPText(fast_p), AllOf(HasSubstr("4 problems, 3 attempted, 2 correct"),
                                       HasSubstr("fast_1 = 0.250 (1 of 4)")));
}

TEST(FastPTest, OverABaselineFileOnlyItsProblemsCount) {
  const auto times = ParseBaselineTimes(
      R"({"level1": {"1_Name.py": {"mean": 0.9}, "10_Name.py": {"mean": 5}, "77_Other.py": {"mean": 1}}})",
      "times.json");
  ASSERT_TRUE(times.ok()) << times.status();
  const FastP fast_p = FastPOver(Report(), *times);
  EXPECT_EQ(fast_p.problems, 2);
  EXPECT_EQ(fast_p.correct, 1);
  EXPECT_EQ(fast_p.shares[2].problems, 1);  // 0.9 > 0.8
  EXPECT_EQ(fast_p.shares[3].problems, 0);
  EXPECT_THAT(
      std::string(ParseBaselineTimes(R"({"level1": {"1_Name.py": {"mean": "x"}}})", "t.json")
                      .status()
                      .message()),
      HasSubstr("t.json:1: level1.1_Name.py.mean"));
}

TEST(KernelBenchExportTest, WritesUpstreamsFolder) {
  const auto files = KernelBenchRun(Report());
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre(Key("baseline_time_ksearch.json"), Key("eval_results.json"),
                                  Key("level_1_problem_10_sample_0_kernel.py"),
                                  Key("level_1_problem_1_sample_0_kernel.py"),
                                  Key("level_1_problem_23_sample_0_kernel.py"),
                                  Key("level_1_problem_2_sample_0_kernel.py")));
  const std::string& results = files->at("eval_results.json");
  EXPECT_THAT(results, AllOf(HasSubstr("    \"1\": ["), HasSubstr("\"correctness\": true"),
                             HasSubstr("\"runtime\": 1.0"), HasSubstr("\"runtime\": -1.0"),
                             HasSubstr("\"num_trials\": 2")));
  // Sorted as numbers, not as text.
  EXPECT_LT(results.find("\"2\": ["), results.find("\"10\": ["));
  EXPECT_THAT(files->at("baseline_time_ksearch.json"),
              AllOf(HasSubstr("\"level1\""), HasSubstr("\"1_Name.py\""), HasSubstr("3.0")));
  v1::SuiteReport mixed = Report();
  mixed.mutable_problems(1)->mutable_sources()->mutable_files(0)->set_path(
      "level_2_problem_2_sample_0_kernel.py");
  EXPECT_THAT(std::string(KernelBenchRun(mixed).status().message()), HasSubstr("levels 1 and 2"));
  EXPECT_FALSE(KernelBenchRun(v1::SuiteReport()).ok());
}

}  // namespace
}  // namespace ksearch
