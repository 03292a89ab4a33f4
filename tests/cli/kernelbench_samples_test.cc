// Run folders of KernelBench with several samples of a problem.
#include "cli/task/kernelbench_samples.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/task/fast_p.h"
#include "cli/task/kernelbench_export.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

TEST(KernelBenchSamplesTest, NamesOfFilesSayWhatTheyAre) {
  const auto sample = ParseSampleName("level_2_problem_76_sample_13_kernel.py");
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->level, 2);
  EXPECT_EQ(sample->problem, 76);
  EXPECT_EQ(sample->sample, 13);
  for (const char* other :
       {"level_2_problem_76_sample_13_prompt.txt", "level_2_problem_0_sample_1_kernel.py",
        "level_2_problem_7_sample_-1_kernel.py", "level_2_problem_7_sample_x_kernel.py",
        "level_2_problem_7_kernel.py", "eval_results.json", ""}) {
    EXPECT_FALSE(ParseSampleName(other).has_value()) << other;
  }
}

TEST(KernelBenchSamplesTest, FolderIsReadInTheOrderOfItsNumbers) {
  std::string folder = (fs::temp_directory_path() / "ksearch-samples-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_TRUE(absl::IsNotFound(FindSamples(folder + "/nosuch").status()));
  EXPECT_THAT(FindSamples(folder).status().ToString(),
              HasSubstr("not a run folder of KernelBench"));
  for (const char* name :
       {"level_1_problem_10_sample_0_kernel.py", "level_1_problem_9_sample_10_kernel.py",
        "level_1_problem_9_sample_2_kernel.py", "eval_results.json"}) {
    std::ofstream(fs::path(folder) / name) << "#";
  }
  const auto samples = FindSamples(folder);
  ASSERT_TRUE(samples.ok()) << samples.status();
  ASSERT_EQ(samples->size(), 3u);
  EXPECT_EQ((*samples)[0].file, "level_1_problem_9_sample_2_kernel.py");
  EXPECT_EQ((*samples)[1].sample, 10);
  EXPECT_EQ((*samples)[2].problem, 10);
  fs::remove_all(folder);
}

// The estimator of Chen et al. (2021), "Evaluating large language models trained on code".
TEST(KernelBenchSamplesTest, PassAtKCountsChoicesWithoutARightOne) {
  EXPECT_NEAR(PassAtK(5, 2, 1), 0.4, 1e-12);
  EXPECT_NEAR(PassAtK(5, 2, 2), 1 - 3.0 / 10, 1e-12);  // 3 of the 10 pairs have none of the two
  EXPECT_EQ(PassAtK(5, 2, 4), 1);
  EXPECT_EQ(PassAtK(5, 0, 5), 0);
  EXPECT_EQ(PassAtK(1, 1, 1), 1);
}

v1::ProblemStanding Sample(int problem, int sample, v1::Outcome outcome, double speedup) {
  v1::ProblemStanding standing;
  standing.set_task("kernelbench/l1/" + std::to_string(problem));
  standing.set_level("l1");
  standing.set_path("/data/level1/" + std::to_string(problem) + "_Name.py");
  standing.set_evaluations(1);
  standing.set_outcome(outcome);
  standing.set_speedup(speedup);
  v1::SourceFile* const file = standing.mutable_sources()->add_files();
  file->set_path("level_1_problem_" + std::to_string(problem) + "_sample_" +
                 std::to_string(sample) + "_kernel.py");
  file->set_content("# " + std::to_string(sample));
  return standing;
}

v1::SuiteReport Samples() {
  v1::SuiteReport report;
  *report.add_problems() = Sample(1, 0, v1::OUTCOME_INCORRECT, 0);
  *report.add_problems() = Sample(1, 1, v1::OUTCOME_PASSED, 1.2);
  *report.add_problems() = Sample(1, 2, v1::OUTCOME_PASSED, 3);
  *report.add_problems() = Sample(2, 1, v1::OUTCOME_PASSED, 0.7);
  *report.add_problems() = Sample(2, 4, v1::OUTCOME_COMPILE_ERROR, 0);
  v1::ProblemStanding* const degenerate = report.add_problems();
  degenerate->set_task("kernelbench/l1/3");
  degenerate->set_left_out("degenerate: zeros");
  report.add_problems()->set_task("kernelbench/l1/4");
  return report;
}

TEST(KernelBenchSamplesTest, FirstAndBestSamplesAreCountedByProblem) {
  const FastP first = FastPOf(FirstSamples(Samples()));
  EXPECT_EQ(first.problems, 3);
  EXPECT_EQ(first.attempted, 1);  // of problem 2 there is no sample 0
  EXPECT_EQ(first.correct, 0);
  const FastP best = FastPOf(BestSamples(Samples()));
  EXPECT_EQ(best.problems, 3);
  EXPECT_EQ(best.correct, 2);
  EXPECT_EQ(best.shares[3].problems, 1);  // above 1
  EXPECT_NEAR(best.geometric_mean_speedup, std::sqrt(3 * 0.7), 1e-9);
  // (2/3 + 1/2) / 2, and of two samples of each.
  EXPECT_EQ(PassAtKText(Samples()), "pass@1 = 0.583, pass@2 = 1.000\n");
  EXPECT_EQ(PassAtKText(v1::SuiteReport()), "");
  EXPECT_THAT(PassAtKJson(Samples()),
              AllOf(HasSubstr("\"total_problems\": 2"), HasSubstr("\"total_samples\": 3"),
                    HasSubstr("\"avg_pass@2\": 1")));
}

TEST(KernelBenchSamplesTest, RunFolderKeepsTheNumbersOfSamples) {
  const auto files = KernelBenchRun(Samples());
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->at("level_1_problem_1_sample_2_kernel.py"), "# 2");
  EXPECT_EQ(files->size(), 5u + 2u);
  const std::string& results = files->at("eval_results.json");
  EXPECT_LT(results.find("\"sample_id\": 1"), results.find("\"sample_id\": 2"));
  EXPECT_THAT(results, HasSubstr("\"sample_id\": 4"));
}

}  // namespace
}  // namespace ksearch
