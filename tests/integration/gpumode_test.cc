// Problems in GPU MODE's form, written for this test: from a folder to verdicts on submissions that
// are taken unchanged, and through a whole search, with real programs. Skipped where
// /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/gpumode_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class GpuModeTest : public GpuModeClusterTest {
 protected:
  static void SetUpTestSuite() {
    if (!MakeCluster()) return;
    cluster_->StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/gpumode.cassette.textproto"));
    cluster_->StartCoordinator(
        absl::StrCat("suites { kind: 'gpumode' device: DEVICE_CLASS_CPU path: '",
                     LocalCluster::SourcePath(kFolder), "' }"));
    cluster_->StartWorker("w1");
  }
  static CommandOutput Check(const std::string& submission) {
    return Judge("masked_rows_v2", submission, {"--check"});
  }
  static CommandOutput Describe(const std::string& problem) {
    return cluster_->Cli({"task", "describe", "gpumode/" + problem});
  }
};

TEST_F(GpuModeTest, ProblemsThatAreNoTasksSayWhyAndDisturbNothing) {
  EXPECT_THAT(Describe("masked_rows_v2").out, HasSubstr("gpumode/masked_rows_v2: described"));
  EXPECT_EQ(Describe("local_only").exit.code, 3);
  EXPECT_THAT(Describe("several").err, HasSubstr("several GPUs"));
  // All others at once.
  const CommandOutput all = cluster_->Cli({"task", "describe", "--suite", "gpumode"});
  EXPECT_EQ(all.exit.code, 3) << all.out << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("gpumode/properties: described"),
                             HasSubstr("gpumode/factors: described"),
                             HasSubstr("gpumode/more_weights: described"),
                             Not(HasSubstr("gpumode/masked_rows_v2"))));
  EXPECT_THAT(cluster_->Cli({"task", "describe", "--suite", "nosuch"}).err,
              HasSubstr("no suite 'nosuch'"));
  EXPECT_THAT(cluster_->Cli({"task", "describe"}).err, HasSubstr("--suite NAME"));
  const CommandOutput list = cluster_->Cli({"--json", "task", "ls", "--suite", "gpumode"});
  EXPECT_EQ(list.exit.code, 0) << list.err;
  EXPECT_THAT(list.out,
              AllOf(HasSubstr("several GPUs"), HasSubstr("untidy/task.yml"), HasSubstr("URLError"),
                    HasSubstr("case 1 has data of another structure than case 0"),
                    HasSubstr("nested more than 64 deep, or holds itself"),
                    HasSubstr("Scales the columns of a matrix")));
}

TEST_F(GpuModeTest, SubmissionsAreJudgedUnchanged) {
  ASSERT_EQ(Describe("masked_rows_v2").exit.code, 0);
  for (const char* right : {"good.py", "fresh.py", "native.cpp", "knows_seeds.py"}) {
    const CommandOutput checked = Check(right);
    EXPECT_EQ(checked.exit.code, 0) << right << checked.out << checked.err;
  }
  const CommandOutput masked = Check("ignores_mask.py");
  EXPECT_EQ(masked.exit.code, 7) << masked.out << masked.err;
  EXPECT_THAT(masked.out, HasSubstr("incorrect"));
  const CommandOutput writes = Check("writes_input.py");
  EXPECT_EQ(writes.exit.code, 7) << writes.out << writes.err;
  EXPECT_THAT(writes.out, HasSubstr("input_modified"));
  for (const char* wrong : {"lazy_result.py", "asks_reference.py"}) {
    const CommandOutput checked = Check(wrong);
    EXPECT_EQ(checked.exit.code, 7) << wrong << checked.out << checked.err;
    EXPECT_THAT(checked.out, Not(HasSubstr("passed")));
  }
}

TEST_F(GpuModeTest, ModeTestLooksAtEveryCaseAndTimesNothing) {
  ASSERT_EQ(Describe("masked_rows_v2").exit.code, 0);
  const auto test = [](const std::string& submission) {
    return Judge("masked_rows_v2", submission, {"--compat", "test"});
  };
  const CommandOutput good = test("good.py");
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  EXPECT_THAT(good.out,
              AllOf(ContainsRegex("test0 +passed +1 of 1 trial\n"),
                    ContainsRegex("test1 +passed +1 of 1 trial\n"), Not(HasSubstr("benchmark0")),
                    HasSubstr("GPU MODE's verdict pass (2 of 2 trials right on 2 workloads)")));
  // Upstream passes `masked: False` as a text, which is true: both cases have a mask there.
  const CommandOutput masked = test("ignores_mask.py");
  EXPECT_EQ(masked.exit.code, 7) << masked.out << masked.err;
  EXPECT_THAT(masked.out,
              AllOf(ContainsRegex("test0 +incorrect +0 of 1 trial +output 'out'"),
                    ContainsRegex("test1 +incorrect +0 of 1 trial +output 'out'"),
                    HasSubstr("GPU MODE's verdict fail (0 of 2 trials right on 2 workloads")));
}

// As TriMul, which gets no mask from upstream's evaluator whatever its cases say.
TEST_F(GpuModeTest, WhatUpstreamNeverMasksIsRightInItsModesAlone) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  ASSERT_EQ(Describe("maybe_masked").exit.code, 0);
  const auto judge = [](const std::vector<std::string>& how) {
    return Judge("maybe_masked", "never_masks.py", how);
  };
  const CommandOutput usual = judge({});
  EXPECT_EQ(usual.exit.code, 7) << usual.out << usual.err;
  EXPECT_THAT(usual.out, AllOf(HasSubstr("incorrect"), HasSubstr("GPU MODE's verdict fail")));
  for (const char* mode : {"test", "benchmark", "leaderboard"}) {
    const CommandOutput passed = judge({"--compat", mode});
    EXPECT_EQ(passed.exit.code, 0) << mode << passed.out << passed.err;
    EXPECT_THAT(passed.out, HasSubstr("GPU MODE's verdict pass")) << mode;
  }
}

TEST_F(GpuModeTest, ModeLeaderboardChecksEveryCallThatItTimes) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  ASSERT_EQ(Describe("masked_rows_v2").exit.code, 0);
  const std::string good = LocalCluster::SourcePath(absl::StrCat(kFolder, "/submissions/good.py"));
  const CommandOutput ranked =
      cluster_->Cli({"eval", "--task", "gpumode/masked_rows_v2", "--compat", "leaderboard", good});
  EXPECT_EQ(ranked.exit.code, 0) << ranked.out << ranked.err;
  EXPECT_THAT(ranked.out,
              AllOf(ContainsRegex("each of [0-9]+ calls on inputs of its own, all outputs right; 2 "
                                  "workloads"),
                    ContainsRegex("score on the leaderboard [0-9.e+]+us .ranking_by geom of 2 "
                                  "benchmarks")));
  // What follows may be the file at once; the mode is benchmark then.
  const CommandOutput timed =
      cluster_->Cli({"eval", "--task", "gpumode/masked_rows_v2", "--compat", good});
  EXPECT_EQ(timed.exit.code, 0) << timed.out << timed.err;
  EXPECT_THAT(timed.out, AllOf(HasSubstr("events around each call, inputs repeat; 2 workloads"),
                               Not(HasSubstr("on the leaderboard"))));
  const CommandOutput unknown =
      cluster_->Cli({"eval", "--task", "gpumode/masked_rows_v2", "--compat", "ranked", good});
  EXPECT_EQ(unknown.exit.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("--compat"), HasSubstr("'ranked' is neither a mode")));
}

// The opposite sign of the orthogonal factor is as correct as the reference's.
TEST_F(GpuModeTest, ProblemsOwnCheckerJudgesProperties) {
  ASSERT_EQ(Describe("properties").exit.code, 0);
  const auto check = [](const std::string& submission) {
    return Judge("properties", submission, {"--check"});
  };
  const CommandOutput other = check("other_sign.py");
  EXPECT_EQ(other.exit.code, 0) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("GPU MODE's verdict pass ("));
  const CommandOutput wrong = check("not_orthogonal.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out,
              AllOf(HasSubstr("incorrect"),
                    HasSubstr("the task's checker refuses the outputs: is not orthogonal"),
                    HasSubstr("GPU MODE's verdict fail (")));
}

// Else the first wrong program would take the task from all others.
TEST_F(GpuModeTest, CheckerThatFailsOnOutputsRefusesThem) {
  ASSERT_EQ(Describe("fragile").exit.code, 0);
  const auto check = [](const std::string& submission) {
    return Judge("fragile", submission, {"--check"});
  };
  const CommandOutput all = check("all_nan.py");
  EXPECT_EQ(all.exit.code, 7) << all.out << all.err;
  EXPECT_THAT(all.out,
              AllOf(HasSubstr("incorrect"),
                    HasSubstr("the task's checker fails on the outputs: ValueError: nothing")));
  const CommandOutput one = check("one_nan.py");
  EXPECT_EQ(one.exit.code, 7) << one.out << one.err;
  EXPECT_THAT(one.out, AllOf(HasSubstr("incorrect"), HasSubstr("has 1 infinite or NaN element"),
                             HasSubstr("GPU MODE's verdict pass (")));
  const CommandOutput right = check("twice.py");
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
}

// What a check computes from them overflows, and no NaN is above a bound.
TEST_F(GpuModeTest, FiniteOutputsOnWhichACheckerComparesANanAreWrong) {
  ASSERT_EQ(Describe("relative").exit.code, 0);
  const CommandOutput huge = Judge("relative", "huge.py", {"--check"});
  EXPECT_EQ(huge.exit.code, 7) << huge.out << huge.err;
  EXPECT_THAT(huge.out, AllOf(HasSubstr("incorrect"),
                              HasSubstr("compares a NaN or an infinity that comes of them"),
                              HasSubstr("GPU MODE's verdict pass (")));
  const CommandOutput right = Judge("relative", "twice.py", {"--check"});
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
}

// torch finds no shapes of its results without values, nor those of one case's inputs.
TEST_F(GpuModeTest, ShapesThatNeedValuesFollowFromOtherCases) {
  const CommandOutput described = Describe("factors");
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  const CommandOutput list = cluster_->Cli({"task", "ls", "gpumode/factors"});
  EXPECT_THAT(list.out, HasSubstr("test1: has the same tensors for every seed"));
  const CommandOutput checked = Judge("factors", "factors.py", {"--check"});
  EXPECT_EQ(checked.exit.code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("GPU MODE's verdict pass (2 of 2 trials"));
  // The last case draws numbers and does not use them, which only its tensors show.
  const CommandOutput tested = Judge("factors", "factors.py", {"--compat", "test"});
  EXPECT_EQ(tested.exit.code, 0) << tested.out << tested.err;
  EXPECT_THAT(tested.out, AllOf(HasSubstr("GPU MODE's verdict pass (3 of 3 trials"),
                                HasSubstr("the same in every call: x (test3)")));
}

// As upstream's mixture of experts: a dict of weights whose number differs from case to case.
TEST_F(GpuModeTest, TensorsWhoseNumberDiffersAreOne) {
  ASSERT_EQ(Describe("more_weights").exit.code, 0);
  const auto check = [](const std::string& submission) {
    return Judge("more_weights", submission, {"--check"});
  };
  // The first insists on data as generate_input makes it, the second on one tensor for each series.
  for (const char* right : {"experts.py", "experts_by_tensor.py"}) {
    const CommandOutput checked = check(right);
    EXPECT_EQ(checked.exit.code, 0) << right << checked.out << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("GPU MODE's verdict pass (2 of 2 trials")) << right;
  }
  const CommandOutput wrong = check("one_expert.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
  // A weight among several that are one tensor is an input as any other.
  const CommandOutput writes = check("scales_expert.py");
  EXPECT_EQ(writes.exit.code, 7) << writes.out << writes.err;
  EXPECT_THAT(writes.out, HasSubstr("input_modified"));
  const CommandOutput tested = Judge("more_weights", "experts.py", {"--compat", "test"});
  EXPECT_EQ(tested.exit.code, 0) << tested.out << tested.err;
  EXPECT_THAT(tested.out, HasSubstr("GPU MODE's verdict pass (2 of 2 trials"));
}

TEST_F(GpuModeTest, WhatIsNotThereIsHandedOn) {
  ASSERT_EQ(Describe("without_bias").exit.code, 0);
  const CommandOutput judged = Judge("without_bias", "without_bias.py", {"--check"});
  EXPECT_EQ(judged.exit.code, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("GPU MODE's verdict pass"));
}

// As upstream's prefix sums: a bound that is right for the largest case is too wide for the others.
TEST_F(GpuModeTest, BoundsThatGrowWithTheCaseAreThoseOfTheProblemsOwnCheck) {
  ASSERT_EQ(Describe("running_sum").exit.code, 0);
  const CommandOutput large = Judge("running_sum", "off_by_some.py", {"--check"});
  EXPECT_EQ(large.exit.code, 0) << large.out << large.err;
  const CommandOutput small = Judge("running_sum", "off_by_some.py", {"--compat", "test"});
  EXPECT_EQ(small.exit.code, 7) << small.out << small.err;
  EXPECT_THAT(small.out, HasSubstr("GPU MODE's verdict fail (0 of 2 trials"));
}

TEST_F(GpuModeTest, SearchFindsAFasterProgram) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  ASSERT_EQ(Describe("masked_rows_v2").exit.code, 0);
  const CommandOutput run = cluster_->Cli(
      {"run", "--task", "gpumode/masked_rows_v2", "--language", "python", "--rounds", "2",
       "--config", LocalCluster::SourcePath("tests/integration/data/steady_run.textproto")},
      absl::Minutes(5));
  EXPECT_EQ(run.exit.code, 0) << run.out << run.err;
  const CommandOutput best = cluster_->Cli({"best", "last", "--source"});
  EXPECT_EQ(best.exit.code, 0) << best.err;
  EXPECT_THAT(best.out, HasSubstr("def run(x, mask, weights_scale_weight, config_divisor, out):"));

  // The benchmarks decide; both means are told.
  const CommandOutput means = cluster_->Cli({"best", "last", "--by", "all"});
  EXPECT_THAT(means.out,
              AllOf(HasSubstr("official cases, which decides\n"), HasSubstr(" over all 4 cases\n"),
                    HasSubstr("GPU MODE's geometric mean of means")));
  // What the suite does not rank cannot decide.
  const CommandOutput refused =
      cluster_->Cli({"run", "--task", "gpumode/masked_rows_v2", "--language", "python",
                     "--feedback-workloads", "test0"});
  EXPECT_EQ(refused.exit.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("'test0' is not one of the official cases by which"));
  EXPECT_LT(means.out.find("over all 4 cases"), means.out.find("which decides"));

  const std::string submission = absl::StrCat(cluster_->folder(), "/submission.py");
  const std::vector<std::string> words = {"export",  "last",  "--format",
                                          "gpumode", "--out", submission};
  const CommandOutput exported = cluster_->Cli(words);
  EXPECT_EQ(exported.exit.code, 0) << exported.out << exported.err;
  EXPECT_NE(cluster_->Cli(words).exit.code, 0);  // it is there
  const CommandOutput judged = RunProgram(
      {kPython, LocalCluster::SourcePath(absl::StrCat(kFolder, "/judge.py")), submission},
      absl::Minutes(1));
  EXPECT_THAT(judged.out, HasSubstr("right")) << judged.err;
}

}  // namespace
}  // namespace ksearch
