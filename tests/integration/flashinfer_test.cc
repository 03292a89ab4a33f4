// A data set in FlashInfer-Bench's form, written for this test: its solutions are listed and judged
// unchanged, and the best program of a search in C++ goes back into it as a solution that is judged
// like the others. Skipped where /usr/bin/python3 has no torch; what C++ extensions need beside it
// (Debian: libtorch-dev, pybind11-dev) is asked for where it is used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/python_cluster.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kTask[] = "flashinfer/scaled_rmsnorm_h64";

bool CanBuildExtensions() {
  return fs::exists("/usr/include/torch/extension.h") && fs::exists("/usr/include/pybind11");
}

class FlashInferTest : public PythonClusterTest {
 protected:
  static void SetUpTestSuite() {
    if (!MakeCluster()) return;
    fs::copy(LocalCluster::SourcePath("tests/integration/data/flashinfer"), DataSet(),
             fs::copy_options::recursive);
    cluster_->StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/flashinfer.cassette.textproto"));
    cluster_->StartCoordinator(absl::StrCat(
        "suites { kind: 'flashinfer' device: DEVICE_CLASS_CPU path: '", DataSet(), "' }"));
    cluster_->StartWorker("w1");
  }
  static std::string DataSet() { return absl::StrCat(cluster_->folder(), "/data_set"); }
  static std::string FileOf(const std::string& author, const std::string& solution) {
    return absl::StrCat(DataSet(), "/solutions/", author, "/rmsnorm/scaled_rmsnorm_h64/", solution,
                        ".json");
  }
  static CommandOutput Check(const std::string& solution) {
    return cluster_->Cli({"eval", "--task", kTask, "--check", "--solution", solution});
  }
};

TEST_F(FlashInferTest, SolutionsAreListedWithWhyTheyCannotBeJudged) {
  const CommandOutput list = cluster_->Cli({"task", "solutions", kTask});
  EXPECT_EQ(list.exit.code, 0) << list.err;
  EXPECT_THAT(list.out,
              AllOf(HasSubstr("rmsnorm_torch_v1"), HasSubstr("baseline"), HasSubstr("4.00x"),
                    HasSubstr("timed on processors"), HasSubstr("spec.entry_point")));
  EXPECT_THAT(cluster_->Cli({"task", "solutions", "softmax_rows_f32"}).out,
              HasSubstr("no solution of softmax_rows_f32"));
  const CommandOutput unknown = cluster_->Cli({"task", "solutions", "flashinfer/nosuch"});
  EXPECT_EQ(unknown.exit.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("scaled_rmsnorm_h64"));
}

TEST_F(FlashInferTest, SolutionsInPythonAreJudgedByNameAndByFile) {
  for (const char* right : {"rmsnorm_torch_v1", "rmsnorm_parts_v1"}) {
    const CommandOutput checked = Check(right);
    EXPECT_EQ(checked.exit.code, 0) << right << checked.out << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("FlashInfer-Bench's verdict PASSED (6 of 6 trials right on "
                                       "2 workloads)"));
  }
  const CommandOutput file =
      cluster_->Cli({"eval", "--task", kTask, "--check", FileOf("suite", "rmsnorm_parts_v1")});
  EXPECT_EQ(file.exit.code, 0) << file.out << file.err;
  const CommandOutput wrong = Check("rmsnorm_wrong_v1");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("incorrect"),
                               HasSubstr("FlashInfer-Bench's verdict INCORRECT_NUMERICAL (")));
  const CommandOutput triton = Check("rmsnorm_triton_v1");
  EXPECT_EQ(triton.exit.code, 3);
  EXPECT_THAT(triton.err, HasSubstr("timed on processors"));
  const CommandOutput unknown = Check("rmsnorm_torch_v2");
  EXPECT_EQ(unknown.exit.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("nearest: rmsnorm_torch_v1"));
  const CommandOutput broken =
      cluster_->Cli({"eval", "--task", kTask, "--check", FileOf("suite", "rmsnorm_broken_v1")});
  EXPECT_EQ(broken.exit.code, 3);
  EXPECT_THAT(broken.err, HasSubstr("spec.entry_point"));
  EXPECT_EQ(cluster_->Cli({"eval", "--task", kTask}).exit.code, 2);
}

TEST_F(FlashInferTest, AFunctionThatCannotBeCalledSoIsABuildErrorAsUpstream) {
  std::ifstream given(FileOf("baseline", "rmsnorm_torch_v1"));
  std::stringstream text;
  text << given.rdbuf();
  const std::string path = absl::StrCat(cluster_->folder(), "/too_few.json");
  std::ofstream(path) << absl::StrReplaceAll(text.str(), {{"    eps,\\n", ""}});
  const CommandOutput checked = cluster_->Cli({"eval", "--task", kTask, "--check", path});
  EXPECT_EQ(checked.exit.code, 7) << checked.out << checked.err;
  EXPECT_THAT(checked.out, AllOf(HasSubstr("run(x, weight, out) is called with 4 arguments"),
                                 HasSubstr("FlashInfer-Bench's verdict COMPILE_ERROR")));
}

TEST_F(FlashInferTest, SolutionsInCppAreBuiltByTheirBinding) {
  if (!CanBuildExtensions()) GTEST_SKIP() << "torch has no headers: libtorch-dev";
  const CommandOutput good = Check("rmsnorm_cpp_torch_v1");
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  const CommandOutput bad = Check("rmsnorm_uncompilable_v1");
  EXPECT_EQ(bad.exit.code, 7) << bad.out << bad.err;
  EXPECT_THAT(bad.out, AllOf(HasSubstr("compile_error"), HasSubstr("normalise_in_place")));
}

TEST_F(FlashInferTest, RivalsAndSeedsMayBeSolutions) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  for (const std::vector<std::string>& rival :
       {std::vector<std::string>{"--rival-solution", "rmsnorm_parts_v1"},
        {"--rival", FileOf("suite", "rmsnorm_parts_v1")}}) {
    std::vector<std::string> words = {"eval",      "--task",     kTask,
                                      "--confirm", "--solution", "rmsnorm_torch_v1"};
    words.insert(words.end(), rival.begin(), rival.end());
    const CommandOutput confirmed = cluster_->Cli(words);
    EXPECT_EQ(confirmed.exit.code, 0) << confirmed.out << confirmed.err;
  }
  // The language is the seed's.
  const CommandOutput run = cluster_->Cli(
      {"run", "--task", kTask, "--seed-published", "rmsnorm_torch_v1", "--rounds", "1", "--config",
       LocalCluster::SourcePath("tests/integration/data/steady_run.textproto")},
      absl::Minutes(5));
  EXPECT_THAT(run.out, HasSubstr("passed")) << run.err;
  const CommandOutput other =
      cluster_->Cli({"run", "--task", kTask, "--language", "cpp", "--seed-solution",
                     FileOf("baseline", "rmsnorm_torch_v1")});
  EXPECT_EQ(other.exit.code, 3) << other.out;
  EXPECT_THAT(other.err, HasSubstr("the seed is a program in python"));
}

TEST_F(FlashInferTest, KSearchsOptionsKeepTheirNames) {
  const CommandOutput unknown = cluster_->Cli(
      {"run", "--task", kTask, "--feedback-workloads", "rows_24,nosuch", "--rounds", "1"});
  EXPECT_EQ(unknown.exit.code, 3) << unknown.out;
  EXPECT_THAT(unknown.err,
              HasSubstr("feedback_workloads[1]: task flashinfer/scaled_rmsnorm_h64 has "
                        "no workload 'nosuch'; it has rows_24"));
  const CommandOutput estimate = cluster_->Cli(
      {"run", "--task", kTask, "--baseline-solution", "rmsnorm_torch_v1", "--target-gpu",
       "a GPU of tomorrow", "--feedback-workloads", "rows_96", "--rounds", "1", "--dry-run"});
  EXPECT_EQ(estimate.exit.code, 0) << estimate.out << estimate.err;
  const CommandOutput nosuch =
      cluster_->Cli({"run", "--task", kTask, "--baseline-solution", "nosuch", "--dry-run"});
  EXPECT_NE(nosuch.exit.code, 0);
  EXPECT_THAT(nosuch.err, HasSubstr("nosuch"));
}

TEST_F(FlashInferTest, BestProgramInCppGoesBackAsASolution) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  const CommandOutput run =
      cluster_->Cli({"run", "--task", kTask, "--language", "cpp", "--rounds", "2", "--config",
                     LocalCluster::SourcePath("tests/integration/data/steady_run.textproto")},
                    absl::Minutes(5));
  EXPECT_EQ(run.exit.code, 0) << run.out << run.err;
  const CommandOutput exported =
      cluster_->Cli({"export", "last", "--format", "flashinfer-bench", "--out", DataSet()});
  ASSERT_EQ(exported.exit.code, 0) << exported.out << exported.err;
  const std::string path = exported.out.substr(0, exported.out.find('\n'));
  const std::string solution = fs::path(path).stem().string();
  EXPECT_THAT(cluster_->Cli({"task", "solutions", kTask}).out,
              AllOf(HasSubstr(solution), HasSubstr("3 of 3 passed on")));
  // Its pydantic models, if they can be had.
  const CommandOutput models =
      RunProgram({kPython, "-I", "-B",
                  LocalCluster::SourcePath("tests/integration/data/validate_flashinfer.py"),
                  absl::StrCat(std::getenv("KSEARCH_BIN_DIR"), "/../flashinfer_models"), DataSet()},
                 absl::Minutes(3));
  EXPECT_TRUE(models.exit.code == 0 || models.exit.code == 77) << models.out << models.err;
  EXPECT_THAT(models.out, testing::AnyOf(HasSubstr("valid: 1 definitions"), HasSubstr("skipped:")));
  std::printf("%s", models.out.c_str());
  if (!CanBuildExtensions()) GTEST_SKIP() << "torch has no headers: libtorch-dev";
  const CommandOutput judged = Check(solution);
  EXPECT_EQ(judged.exit.code, 0) << judged.out << judged.err;
}

}  // namespace
}  // namespace ksearch
