// Problems of KernelBench: names, levels, and the conversion of a file to a task.
#include "coordinator/suites/kernelbench_suite.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_replace.h"
#include "common/program_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kProblem[] = "class Model: pass\n";
constexpr char kDescription[] = R"({"init": [8],
 "inputs": [{"name": "x", "dtype": "float32", "shape": [4, 8],
             "recipe": {"kind": "normal", "scale": 1.0, "offset": 0.0}}],
 "parameters": [{"name": "p_w", "path": "fc.weight", "dtype": "float32", "shape": [8],
                 "recipe": {"kind": "uniform", "scale": 0.5, "offset": -0.25}}],
 "buffers": [], "outputs": [{"name": "out", "dtype": "float32", "shape": [4]}]})";

class FakeDescriptions final : public Descriptions {
 public:
  absl::StatusOr<std::optional<v1::JobResult>> Find(const ProblemProgram& program) const override {
    const auto found = results.find(program.sources.files(1).content());
    if (found == results.end()) return std::optional<v1::JobResult>();
    return found->second;
  }
  std::map<std::string, v1::JobResult> results;  // by the problem's text
};

class KernelBenchSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-kernelbench-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    config_.set_kind("kernelbench");
    config_.set_path(root_.string());
    config_.set_device(v1::DEVICE_CLASS_CPU);
    Write("KernelBench/level1/23_Row_sums.py", kProblem);
    Write("KernelBench/level1/4_Other.py", "class Model: 4\n");
    Write("KernelBench/level1/notes.py", "");
    Write("KernelBench/level1/notes.txt", "");
    Write("KernelBench/level10/1_Late.py", "late");
    Write("KernelBench/changelog/1_Not_a_problem.py", "");
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  std::unique_ptr<TaskSuite> Suite() {
    auto suite = MakeKernelBenchSuite(config_, &descriptions_);
    EXPECT_TRUE(suite.ok()) << suite.status();
    return *std::move(suite);
  }
  void Describe(v1::Outcome outcome, const std::string& text) {
    v1::JobResult result;
    result.set_outcome(outcome);
    result.set_description(text);
    result.set_message("out of time");
    descriptions_.results[kProblem] = result;
  }
  std::string LoadError() { return std::string(Suite()->Load("l1/23").status().message()); }

  fs::path root_;
  v1::SuiteConfig config_;
  FakeDescriptions descriptions_;
};

TEST_F(KernelBenchSuiteTest, FilesOfLevelsAreProblems) {
  std::vector<std::string> names;
  for (const v1::TaskSummary& task : Suite()->List()) {
    names.push_back(task.name());
    EXPECT_THAT(task.error(), HasSubstr("ksearch task describe kernelbench/" + task.name()));
  }
  EXPECT_THAT(names, ElementsAre("l1/4", "l1/23", "l10/1"));
  EXPECT_EQ(Suite()->List()[1].title(), "Row sums");
  EXPECT_EQ(Suite()->List()[1].level(), "l1");
  EXPECT_THAT(std::string(Suite()->Load("l1/24").status().message()), HasSubstr("l1/23"));
}

TEST_F(KernelBenchSuiteTest, ACheckoutThatIsNoLongerThereIsTold) {
  const std::unique_ptr<TaskSuite> suite = Suite();
  fs::remove_all(root_);
  EXPECT_THAT(std::string(suite->Load("l1/23").status().message()),
              HasSubstr("KernelBench has none, or is no longer there"));
  EXPECT_TRUE(suite->List().empty());
}

TEST_F(KernelBenchSuiteTest, LinksOutOfTheCheckoutAreNotRead) {
  const fs::path elsewhere = root_.string() + "-elsewhere.py";
  std::ofstream(elsewhere) << "secret";
  fs::create_symlink(elsewhere, root_ / "KernelBench/level1/9_Link.py");
  fs::create_symlink("23_Row_sums.py", root_ / "KernelBench/level1/24_Same.py");
  const std::unique_ptr<TaskSuite> suite = Suite();
  EXPECT_THAT(std::string(suite->DescribingProgramOf("l1/9").status().message()),
              HasSubstr("9_Link.py: is a link to a file outside of "));
  EXPECT_TRUE(suite->DescribingProgramOf("l1/24").ok());
  fs::remove(elsewhere);
}

TEST_F(KernelBenchSuiteTest, TwoFilesOfOneNumberAreNoTask) {
  Write("KernelBench/level1/23_Rows.py", kProblem);
  const std::vector<v1::TaskSummary> listed = Suite()->List();
  ASSERT_EQ(listed.size(), 4u);
  EXPECT_EQ(listed[0].error().find("23_"), std::string::npos) << listed[0].error();
  for (const size_t i : {1u, 2u}) {
    EXPECT_EQ(listed[i].name(), "l1/23");
    EXPECT_THAT(listed[i].error(),
                testing::HasSubstr("has the same number; rename one of the two"));
  }
  EXPECT_THAT(listed[1].error(), testing::HasSubstr("23_Row_sums.py: 23_Rows.py has"));
  EXPECT_EQ(Suite()->DescribingProgramOf("l1/23").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(KernelBenchSuiteTest, DescribedProblemIsATask) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  const auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->definition().name(), "kernelbench_l1_23");
  EXPECT_EQ(task->title(), "Row sums");
  EXPECT_EQ(task->workloads_size(), 2);
  EXPECT_TRUE(task->workloads(1).held_out());
  EXPECT_THAT(task->hidden().keep(), ElementsAre("p_w"));
  const std::string& reference = task->references(0).files(0).content();
  EXPECT_THAT(reference,
              AllOf(HasSubstr(kProblem), HasSubstr("Model(*init)"), HasSubstr("init = [8, ]"),
                    HasSubstr(R"([[("fc.weight", (8, ), 0)], ])"), HasSubstr("def run(x, p_w):"),
                    Not(HasSubstr("@"))));
  EXPECT_EQ(Suite()->List()[1].error(), "");
}

TEST_F(KernelBenchSuiteTest, TheBaselineCopiesWhatItWritesIntoAlone) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_THAT(task->references(0).files(0).content(), HasSubstr("copied = [0]"));
  EXPECT_THAT(task->baselines(0).files(0).content(), HasSubstr("copied = []"));
  EXPECT_THAT(task->forms(0).suffix(), HasSubstr("copied = []"));
  Describe(v1::OUTCOME_PASSED,
           absl::StrReplaceAll(kDescription, {{"[4, 8],", "[4, 8], \"written\": true,"}}));
  task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_THAT(task->baselines(0).files(0).content(), HasSubstr("copied = [0]"));
  EXPECT_THAT(task->forms(0).suffix(), HasSubstr("copied = []"));
}

TEST_F(KernelBenchSuiteTest, WeightsThatBeginAsOneNumberVaryInHiddenCases) {
  Describe(
      v1::OUTCOME_PASSED,
      absl::StrReplaceAll(kDescription, {{R"("kind": "uniform", "scale": 0.5, "offset": -0.25)",
                                          R"("kind": "constant", "offset": 1.0)"}}));
  const auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_THAT(task->hidden().keep(), testing::IsEmpty());
  EXPECT_THAT(task->hidden().scalars(), testing::IsEmpty());
}

// Their initial values are whatever the problem's constructor makes.
TEST_F(KernelBenchSuiteTest, MadeWeightsVaryForUnusualSeeds) {
  Describe(v1::OUTCOME_PASSED,
           absl::StrReplaceAll(kDescription, {{R"("buffers")", R"("made": true, "buffers")"}}));
  const auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  ASSERT_EQ(task->hidden().scalars_size(), 1);
  EXPECT_EQ(task->hidden().scalars(0).input(), "seed");
  EXPECT_EQ(task->hidden().scalars(0).values(0), 0x1p32);
  EXPECT_THAT(task->references(0).files(0).content(), HasSubstr("if seed >= 1 << 32"));
}

TEST_F(KernelBenchSuiteTest, FailedAndWrongDescriptionsAreTold) {
  Describe(v1::OUTCOME_COMPILE_TIMEOUT, "");
  EXPECT_THAT(LoadError(), AllOf(HasSubstr("23_Row_sums.py"), HasSubstr("out of time")));
  Describe(v1::OUTCOME_PASSED, R"({"error": "input 'x' is symmetric"})");
  EXPECT_THAT(LoadError(), AllOf(HasSubstr("23_Row_sums.py"), HasSubstr("symmetric")));
  Describe(v1::OUTCOME_PASSED, "garbage");
  EXPECT_THAT(LoadError(), HasSubstr("23_Row_sums.py:1"));
  Write("KernelBench/level1/23_Row_sums.py", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(LoadError(), AllOf(HasSubstr("23_Row_sums.py"), HasSubstr("git lfs pull")));
}

TEST_F(KernelBenchSuiteTest, CandidatesOfUpstreamGetTheTasksEntry) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  const auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_PYTHON);
  sources.add_files()->set_path("new.py");
  for (const char* own : {"def run(x, p_w):\n    pass\n", "class Other: pass\n",
                          "class ModelNew: pass\ndef run(x):\n    pass\n"}) {
    sources.mutable_files(0)->set_content(own);
    EXPECT_EQ(WithTaskEntry(*task, sources).files(0).content(), own);
  }
  const std::string candidate = "class ModelNew(torch.nn.Module):\n    pass\n";
  sources.mutable_files(0)->set_content(candidate);
  EXPECT_THAT(WithTaskEntry(*task, sources).files(0).content(),
              AllOf(HasSubstr(candidate), HasSubstr("ModelNew(*init)"),
                    HasSubstr("def run(x, p_w):"), Not(HasSubstr("make_inputs"))));
  EXPECT_THAT(task->forms(0).instructions(), HasSubstr("class ModelNew(torch.nn.Module)"));
  const auto program = Suite()->DescribingProgramOf("l1/23");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->sources.files(1).content(), kProblem);
}

TEST_F(KernelBenchSuiteTest, PrecisionAndBaselineAreSettings) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  const auto usual = Suite()->Load("l1/23");
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_EQ(usual->tolerance().atol(), 1e-4);
  EXPECT_TRUE(usual->tolerance().sum_of_bounds());
  EXPECT_THAT(usual->baselines(0).files(0).content(),
              AllOf(HasSubstr("called = module\n"), HasSubstr("precision = torch.float32")));
  // Otherwise a worker would let it compile before judging it.
  for (const char* word : {"compile", "jit", "inductor", "triton", "importlib"}) {
    EXPECT_THAT(usual->references(0).files(0).content(), Not(HasSubstr(word)));
    EXPECT_THAT(usual->forms(0).suffix(), Not(HasSubstr(word)));
  }
  EXPECT_EQ(usual->suite_clock().calls(), 100);
  config_.set_precision("bf16");
  config_.set_baseline("torch.compile");
  const auto half = Suite()->Load("l1/23");
  ASSERT_TRUE(half.ok()) << half.status();
  EXPECT_EQ(half->tolerance().rtol(), 1e-2);
  EXPECT_THAT(half->references(0).files(0).content(),
              AllOf(Not(HasSubstr("compile")), HasSubstr("precision = torch.bfloat16")));
  EXPECT_THAT(half->baselines(0).files(0).content(),
              HasSubstr("            called = torch.compile(module, dynamic=False)\n"));
  const auto program = Suite()->DescribingProgramOf("l1/23");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->sources.files(0).content(),
              AllOf(HasSubstr("PRECISION = \"bfloat16\""), HasSubstr("TOLERANCE = 0.01")));
  config_.set_precision("fp8");
  EXPECT_THAT(std::string(MakeKernelBenchSuite(config_, &descriptions_).status().message()),
              HasSubstr("precision: 'fp8' is not fp32, bf16 or fp16"));
  config_.set_precision("fp16");
  config_.set_baseline("fast");
  EXPECT_THAT(std::string(MakeKernelBenchSuite(config_, &descriptions_).status().message()),
              HasSubstr("baseline: 'fast' is not eager or torch.compile"));
}

TEST_F(KernelBenchSuiteTest, WhatPassesWithoutWorkIsListed) {
  Describe(v1::OUTCOME_PASSED,
           absl::StrReplaceAll(
               kDescription, {{"\"buffers\": []", "\"degenerate\": \"zeros\", \"buffers\": []"}}));
  const auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->degenerate(), "what passes at tolerance 0.0001: zeros");
  EXPECT_THAT(task->definition().tags(), ElementsAre("degenerate"));
  EXPECT_EQ(Suite()->List()[1].degenerate(), task->degenerate());
  Describe(v1::OUTCOME_PASSED,
           absl::StrReplaceAll(kDescription,
                               {{"\"buffers\": []", "\"untested\": \"slow\", \"buffers\": []"}}));
  EXPECT_THAT(Suite()->Load("l1/23")->definition().tags(), ElementsAre("admission-untested"));
}

TEST_F(KernelBenchSuiteTest, ManyParametersLieInOneTensorAndAreMade) {
  const std::string packed = absl::StrReplaceAll(
      kDescription,
      {{"\"path\": \"fc.weight\", ", ""},
       {"\"shape\": [8],\n                 \"recipe\": {\"kind\": \"uniform\", \"scale\": 0.5, "
        "\"offset\": -0.25}",
        "\"shape\": [256], \"parts\": [{\"path\": \"a.w\", \"shape\": [2, 4], \"offset\": 0}, "
        "{\"path\": \"b\", \"shape\": [], \"offset\": 128}]"},
       {"\"buffers\": []", "\"made\": true, \"buffers\": []"}});
  Describe(v1::OUTCOME_PASSED, packed);
  const auto task = Suite()->Load("l1/23");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_TRUE(task->workloads(0).inputs(0).has_made());
  EXPECT_TRUE(task->workloads(0).inputs(1).has_made());
  EXPECT_THAT(task->definition().inputs(1).description(), HasSubstr("128 b []"));
  EXPECT_THAT(task->references(0).files(0).content(),
              AllOf(HasSubstr("def make_inputs(seed):"),
                    HasSubstr(R"([("a.w", (2, 4, ), 0), ("b", (), 128), ])")));
  Describe(v1::OUTCOME_PASSED, absl::StrReplaceAll(packed, {{"\"offset\": 128", "\"offset\": 7"}}));
  EXPECT_THAT(LoadError(), HasSubstr("parameters[0].parts[1].offset"));
  Describe(v1::OUTCOME_PASSED, absl::StrReplaceAll(packed, {{"\"made\": true, ", ""}}));
  EXPECT_THAT(LoadError(), HasSubstr("parts"));
}

TEST_F(KernelBenchSuiteTest, ProgramsAreHandedToUpstreamAsModelNew) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_PYTHON);
  sources.add_files()->set_path("new.py");
  sources.mutable_files(0)->set_content("class ModelNew(torch.nn.Module):\n    pass\n");
  auto file = Suite()->ToUpstream("l1/23", sources);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path(), "level_1_problem_23_sample_0_kernel.py");
  EXPECT_EQ(file->content(), sources.files(0).content());
  sources.mutable_files(0)->set_content("def run(x, p_w):\n    return x\n");
  file = Suite()->ToUpstream("l1/23", sources);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->content(), AllOf(HasSubstr(kProblem), HasSubstr("def run(x, p_w):"),
                                     HasSubstr("class ModelNew(Model):"), Not(HasSubstr("@")),
                                     HasSubstr(R"x([((4, ), "float32"), ])x")));
  sources.add_files()->set_path("more.py");
  EXPECT_THAT(std::string(Suite()->ToUpstream("l1/23", sources).status().message()),
              HasSubstr("one file"));
}

TEST_F(KernelBenchSuiteTest, OtherFoldersAreRefused) {
  v1::SuiteConfig config;
  config.set_path((root_ / "KernelBench/changelog").string());
  EXPECT_THAT(std::string(MakeKernelBenchSuite(config, &descriptions_).status().message()),
              HasSubstr("not a checkout of KernelBench"));
}

}  // namespace
}  // namespace ksearch
