// Problems in GPU MODE's form: names, cases, what prevents a folder from being a task, and the
// messages about bad folders.
#include "coordinator/suites/gpumode/gpumode_suite.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/program_form.h"
#include "coordinator/suites/gpumode/gpumode_description.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kTask[] = R"(files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "utils.py", "source": "../utils.py"}
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "eval.py", "source": "../eval.py"}
lang: "py"
description: |
  Scales the rows of a matrix.

  And more.
config:
  main: "eval.py"
tests:
  - {"rows": 3, "masked": False, "seed": 1}
  - {"rows": 5, "masked": True, "seed": 2}
  - {"rows": 64, "masked": True, "seed": 3}
benchmarks:
  - {"rows": 64, "masked": True, "seed": 4}
ranking_by: "geom"
)";

// A script's description: a place for the result within data, a number, and a separate result.
constexpr char kDescription[] = R"({"atol": 0.01, "rtol": 0.02,
 "data": {"tuple": [{"tensor": 0}, {"tensor": 1}, {"number": 0}]},
 "result": {"tuple": [{"tensor": 0}, {"tensor": 1}]},
 "inputs": [{"name": "x", "dtype": "float32", "own_dtype": "float32", "order": [0, 1], "output": -1, "unset": false},
            {"name": "y", "dtype": "float32", "own_dtype": "float32", "order": [0, 1], "output": 0, "unset": true}],
 "numbers": [{"name": "scale", "kind": "float"}],
 "outputs": [{"name": "y", "dtype": "float32"}, {"name": "out1", "dtype": "int64"}],
 "cases": [{"shapes": [[3, 8], [3, 8]], "numbers": [0.5], "results": [[3, 8], [6]]},
           {"shapes": [[5, 8], [5, 8]], "numbers": [0.25], "results": [[5, 8], [10]]},
           {"shapes": [[64, 8], [64, 8]], "numbers": [0.5], "results": [[64, 8], [128]]}]})";

// The same, and what it says of the cases as upstream's evaluator reads them.
std::string WithUpstream(const std::string& upstream) {
  const std::string own = kDescription;
  return absl::StrCat(own.substr(0, own.size() - 1), ", \"upstream\": ", upstream, "}");
}

class FakeDescriptions final : public Descriptions {
 public:
  absl::StatusOr<std::optional<v1::JobResult>> Find(const ProblemProgram& program) const override {
    last = program;
    return result;
  }
  std::optional<v1::JobResult> result;
  mutable ProblemProgram last;
};

class GpuModeSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-gpumode-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    Write("problems/small.yaml",
          "name: small\nproblems:\n  - directory: small/rows_py\n    name: rows_v2\n");
    Write("problems/broken.yaml", "problems: [\n");
    Write("problems/small/utils.py", "# utils\n");
    Write("problems/small/rows_py/task.py", "# task\n");
    Write("problems/small/rows_py/reference.py", "# reference\n");
    Write("problems/small/rows_py/task.yml", kTask);
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  absl::StatusOr<std::unique_ptr<TaskSuite>> Make(const fs::path& path) {
    v1::SuiteConfig config;
    config.set_kind("gpumode");
    config.set_path(path.string());
    config.set_device(v1::DEVICE_CLASS_CPU);
    return MakeGpuModeSuite(config, &descriptions_);
  }
  std::unique_ptr<TaskSuite> Suite() {
    auto suite = Make(root_);
    EXPECT_TRUE(suite.ok()) << suite.status();
    return *std::move(suite);
  }
  void Describe(v1::Outcome outcome, const std::string& text) {
    descriptions_.result.emplace();
    descriptions_.result->set_outcome(outcome);
    descriptions_.result->set_description(text);
    descriptions_.result->set_message("out of time");
  }
  std::string LoadError() { return std::string(Suite()->Load("rows_v2").status().message()); }
  // The error after a change of the task file.
  std::string ErrorWith(const std::string& from, const std::string& to) {
    Write("problems/small/rows_py/task.yml", absl::StrReplaceAll(kTask, {{from, to}}));
    return LoadError();
  }

  fs::path root_;
  FakeDescriptions descriptions_;
};

TEST_F(GpuModeSuiteTest, FoldersAreNamedAsTheirSetsSay) {
  Write("problems/other/rows_v2/task.yml", kTask);
  Write("problems/other/alone/task.yml", "lang: [\n");
  std::map<std::string, v1::TaskSummary> tasks;
  for (const v1::TaskSummary& task : Suite()->List()) tasks[task.name()] = task;
  ASSERT_EQ(tasks.size(), 4u);
  EXPECT_THAT(tasks["broken"].error(), HasSubstr("broken.yaml:"));
  EXPECT_EQ(tasks["rows_v2"].level(), "small");
  EXPECT_EQ(tasks["rows_v2"].title(), "Scales the rows of a matrix.");
  EXPECT_THAT(tasks["rows_v2"].error(), HasSubstr("ksearch task describe gpumode/rows_v2"));
  EXPECT_THAT(tasks["rows_v2"].left_out(), ElementsAre("test2: is benchmark0 with another seed"));
  EXPECT_THAT(tasks["other.rows_v2"].error(), HasSubstr("files[1]"));
  EXPECT_THAT(tasks["alone"].error(), HasSubstr("alone/task.yml:"));
  EXPECT_THAT(std::string(Suite()->Load("rows_v").status().message()), HasSubstr("rows_v2"));
}

TEST_F(GpuModeSuiteTest, ClockIsThatOfTheProblemsEvaluator) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  auto task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->suite_clock().flush_bytes(), 0);
  EXPECT_EQ(task->suite_clock().calls(), 100);
  Write("problems/small/eval.py", "        clear_l2_cache()\n");
  task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->suite_clock().flush_bytes(), int64_t{256} << 20);
}

TEST_F(GpuModeSuiteTest, ModesAreThoseOfUpstreamsEvaluator) {
  Describe(v1::OUTCOME_PASSED, WithUpstream(kDescription));
  v1::Task task;
  const auto ask = [&](const std::string& mode) {
    v1::EvaluateRequest request;
    const absl::Status set = Suite()->SetMode("rows_v2", mode, &request, &task);
    EXPECT_TRUE(set.ok()) << set;
    return request;
  };
  // The third is a benchmark, too.
  const v1::EvaluateRequest test = ask("test");
  EXPECT_EQ(test.kind(), v1::JOB_KIND_CHECK);
  EXPECT_THAT(test.workload_uuids(), ElementsAre("test0", "test1", "benchmark0"));
  EXPECT_TRUE(test.plan().every_workload());
  EXPECT_FALSE(test.plan().suite_clock());
  const v1::EvaluateRequest benchmark = ask("benchmark");
  EXPECT_TRUE(benchmark.plan().suite_clock());
  EXPECT_FALSE(benchmark.plan().suite_clock_checked());
  EXPECT_EQ(benchmark.workload_uuids_size(), 0);
  const v1::EvaluateRequest leaderboard = ask("leaderboard");
  EXPECT_TRUE(leaderboard.plan().suite_clock() && leaderboard.plan().suite_clock_checked());
  EXPECT_THAT(leaderboard.workload_uuids(), ElementsAre("benchmark0"));
  v1::EvaluateRequest request;
  EXPECT_THAT(Suite()->SetMode("rows_v2", "profile", &request, &task).ToString(),
              AllOf(HasSubstr("has no mode 'profile' (--compat)"),
                    HasSubstr("test, benchmark and leaderboard")));
}

TEST_F(GpuModeSuiteTest, LeaderboardsRankAsTheirTaskSays) {
  const auto with_ranking = [&](const std::string& line) {
    std::string text = absl::StrReplaceAll(
        kTask, {{"\"seed\": 4}\n", "\"seed\": 4}\n  - {\"rows\": 96, \"masked\": True}\n"},
                {"ranking_by: \"geom\"\n", line}});
    Write("problems/small/rows_py/task.yml", text);
    return Suite();
  };
  v1::JobResult result;
  for (const double us : {10.0, 1000.0}) {
    v1::WorkloadResult* const workload = result.add_workloads();
    workload->set_workload_uuid(us < 100 ? "benchmark0" : "benchmark1");
    workload->mutable_suite_time()->set_mean_us(us);
    workload->mutable_suite_time()->set_checked(7);
  }
  const auto score = [&](const TaskSuite& suite) {
    for (const v1::SuiteScore& each : suite.Scores("rows_v2", result)) {
      if (each.name() == "GPU MODE's score on the leaderboard") return each.value();
    }
    return 0.0;
  };
  EXPECT_NEAR(score(*with_ranking("ranking_by: \"geom\"\n")), 100, 1e-9);
  EXPECT_NEAR(score(*with_ranking("ranking_by: \"mean\"\n")), 505, 1e-9);
  EXPECT_NEAR(score(*with_ranking("")), 1000, 1e-9);
  Describe(v1::OUTCOME_PASSED,
           absl::StrReplaceAll(WithUpstream(kDescription),
                               {{"[[64, 8], [128]]}]",
                                 "[[64, 8], [128]]}, {\"shapes\": [[96, 8], [96, 8]], "
                                 "\"numbers\": [0.5], \"results\": [[96, 8], [192]]}]"}}));
  v1::EvaluateRequest request;
  v1::Task task;
  const absl::Status set = with_ranking("")->SetMode("rows_v2", "leaderboard", &request, &task);
  EXPECT_TRUE(set.ok()) << set;
  EXPECT_THAT(request.workload_uuids(), ElementsAre("benchmark1"));
  EXPECT_THAT(
      std::string(with_ranking("ranking_by: \"best\"\n")->Load("rows_v2").status().message()),
      AllOf(HasSubstr("ranking_by"), HasSubstr("'best' is not last, mean or geom")));
  result.mutable_workloads(0)->mutable_suite_time()->set_checked(0);
  EXPECT_EQ(score(*with_ranking("ranking_by: \"geom\"\n")), 0);
}

std::string HexOf(const std::string& text) { return absl::BytesToHexString(text); }

// Truth values are text there, in which "False" is true.
TEST_F(GpuModeSuiteTest, ModesHaveTheArgumentsThatUpstreamPasses) {
  Describe(v1::OUTCOME_PASSED,
           WithUpstream(absl::StrReplaceAll(
               kDescription, {{"\"dtype\": \"float32\", \"own", "\"dtype\": \"float16\", \"own"},
                              {"\"name\": \"y\", \"dtype\": "
                               "\"float32\"},",
                               "\"name\": \"y\", \"dtype\": "
                               "\"float16\"},"}})));
  const auto usual = Suite()->Load("rows_v2");
  ASSERT_TRUE(usual.ok()) << usual.status();
  v1::EvaluateRequest request;
  v1::Task task = *usual;
  absl::Status set = Suite()->SetMode("rows_v2", "test", &request, &task);
  ASSERT_TRUE(set.ok()) << set;
  EXPECT_EQ(task.workloads(0).uuid(), "test0");
  EXPECT_EQ(usual->definition().inputs(0).dtype(), v1::DTYPE_FLOAT32);
  EXPECT_EQ(task.definition().inputs(0).dtype(), v1::DTYPE_FLOAT16);
  const auto entry_of = [](const v1::Task& of) { return of.references(0).files(0).content(); };
  // The specification holds the cases, as JSON in hexadecimal digits.
  EXPECT_THAT(entry_of(*usual), HasSubstr(HexOf("\"masked\":false")));
  EXPECT_THAT(entry_of(task), AllOf(HasSubstr(HexOf("\"rows\":3,\"masked\":\"False\"")),
                                    HasSubstr(HexOf("\"masked\":\"True\""))));
  const auto describing = Suite()->DescribingProgramOf("rows_v2");
  EXPECT_THAT(describing->sources.files(0).content(),
              AllOf(HasSubstr(HexOf("\"masked\":false")), HasSubstr(HexOf("\"False\"")),
                    Not(HasSubstr("@UPSTREAMS_CASES@"))));

  Describe(v1::OUTCOME_PASSED, WithUpstream(R"({"error": "TypeError: text"})"));
  EXPECT_TRUE(Suite()->Load("rows_v2").ok());
  EXPECT_THAT(Suite()->SetMode("rows_v2", "test", &request, &task).ToString(),
              AllOf(HasSubstr("suite_mode: with the arguments"), HasSubstr("TypeError: text")));

  const auto write = [&](const std::string& to) {
    Write("problems/small/rows_py/task.yml",
          absl::StrReplaceAll(kTask, {{"\"masked\": False", to}, {"\"masked\": True", to}}));
  };
  const auto with = [&](const std::string& to) {
    write(to);
    task = v1::Task();
    return Suite()->SetMode("rows_v2", "test", &request, &task);
  };
  Describe(v1::OUTCOME_PASSED, WithUpstream(kDescription));
  EXPECT_THAT(with("\"masked\": 0.5").ToString(),
              HasSubstr("suite_mode: upstream's eval.py refuses 'masked' of test0, a fraction"));
  EXPECT_THAT(with("\"masked\": [1, 2]").ToString(), HasSubstr("a list"));
  EXPECT_THAT(with("\"masked\": a b").ToString(), HasSubstr("text other than one word"));
  Write("problems/small/eval.py", "match = r\"(\\[[^\\]]*\\]|[a-z]+)\"\n");
  EXPECT_TRUE(with("\"masked\": [1, 2]").ok());
  EXPECT_THAT(entry_of(task), HasSubstr(HexOf("{\"tuple\":[1,2]}")));
  EXPECT_TRUE(with("\"masked\": \"-3\"").ok());
  EXPECT_THAT(entry_of(task), HasSubstr(HexOf("\"masked\":-3")));
  // The same in both: the task stays as it is.
  Describe(v1::OUTCOME_PASSED, kDescription);
  write("\"masked\": normal");
  const auto same = Suite()->Load("rows_v2");
  ASSERT_TRUE(same.ok()) << same.status();
  task = *same;
  set = Suite()->SetMode("rows_v2", "test", &request, &task);
  EXPECT_TRUE(set.ok()) << set;
  EXPECT_THAT(request.workload_uuids(), ElementsAre("test0", "test1", "benchmark0"));
  EXPECT_EQ(task.SerializeAsString(), same->SerializeAsString());
}

TEST_F(GpuModeSuiteTest, OneFolderIsASuite) {
  const auto suite = Make(root_ / "problems/small/rows_py");
  ASSERT_TRUE(suite.ok()) << suite.status();
  const auto tasks = (*suite)->List();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].name(), "rows_py");
  EXPECT_THAT(tasks[0].error(), HasSubstr("not described yet"));
}

TEST_F(GpuModeSuiteTest, DescribedProblemIsATask) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  const auto task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->definition().name(), "gpumode_rows_v2");
  EXPECT_EQ(task->tolerance().atol(), 0.01);
  EXPECT_EQ(task->tolerance().rtol(), 0.02);
  // The place of a result is its output alone.
  ASSERT_EQ(task->definition().inputs_size(), 2);
  EXPECT_EQ(task->definition().inputs(0).name(), "x");
  EXPECT_THAT(task->definition().inputs(0).shape(), ElementsAre("rows", "n8"));
  EXPECT_TRUE(task->definition().inputs(1).scalar());
  ASSERT_EQ(task->definition().outputs_size(), 2);
  EXPECT_THAT(task->definition().outputs(0).shape(), ElementsAre("rows", "n8"));
  EXPECT_THAT(task->definition().outputs(1).shape(), ElementsAre("d2"));
  ASSERT_EQ(task->workloads_size(), 3);
  EXPECT_EQ(task->workloads(0).uuid(), "test0");
  EXPECT_TRUE(task->workloads(0).held_out());
  EXPECT_TRUE(task->workloads(0).inputs(0).has_made());
  EXPECT_EQ(task->workloads(1).inputs(1).scalar().float_value(), 0.25);
  EXPECT_EQ(task->workloads(2).uuid(), "benchmark0");
  EXPECT_FALSE(task->workloads(2).held_out());
  EXPECT_EQ(Suite()->List()[0].error(), "");
  // The reference lies beside the trusted entry, with what it imports.
  std::map<std::string, std::string> files;
  for (const v1::SourceFile& file : task->references(0).files()) {
    files[file.path()] = file.content();
  }
  EXPECT_EQ(files.size(), 4u);
  EXPECT_EQ(files["reference.py"], "# reference\n");
  EXPECT_THAT(
      files["kernel.py"],
      AllOf(HasSubstr("def make_inputs("), HasSubstr("run = _entry()"), HasSubstr("def placed("),
            HasSubstr("_ROLE = \"reference\""), Not(HasSubstr("@SPEC@"))));
  EXPECT_THAT(task->baselines(0).files(0).content(), HasSubstr("_ROLE = \"baseline\""));
}

TEST_F(GpuModeSuiteTest, FaultsOfFoldersAndListsAreListed) {
  Write("problems/small/my rows/task.yml", kTask);
  fs::create_directories(root_ / "problems/small/folder/task.yml");
  Write("problems/other/rows_v2/task.yml", kTask);
  Write("problems/more.yaml", "problems:\n  - directory: small/gone\n    name: gone_v2\n");
  std::map<std::string, std::string> errors;
  for (const v1::TaskSummary& task : Suite()->List()) errors[task.name()] = task.error();
  EXPECT_THAT(errors["my_rows"], HasSubstr("so rename the folder"));
  EXPECT_THAT(errors["folder"], HasSubstr("task.yml is a folder, not a file"));
  EXPECT_THAT(errors["broken"], HasSubstr("broken.yaml:"));
  EXPECT_THAT(errors["gone_v2"],
              AllOf(HasSubstr("more.yaml:2"), HasSubstr("has no file task.yml")));
  EXPECT_EQ(errors.count("rows_v2") + errors.count("other.rows_v2"), 2u);
}

// Like the diagonal matrices of cholesky, whose elements are the same for every seed.
TEST_F(GpuModeSuiteTest, CasesOfTheSameTensorsForEverySeedAreLeftOut) {
  const auto repeating = [](const std::string& shapes) {
    return absl::StrReplaceAll(
        WithUpstream(kDescription),
        {{"{\"shapes\": " + shapes, "{\"repeats\": true, \"shapes\": " + shapes}});
  };
  Describe(v1::OUTCOME_PASSED, repeating("[[3, 8], [3, 8]]"));
  const auto task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  ASSERT_EQ(task->workloads_size(), 2);
  EXPECT_EQ(task->workloads(0).uuid(), "test1");
  EXPECT_EQ(task->workloads(0).inputs(1).scalar().float_value(), 0.25);
  EXPECT_THAT(task->references(0).files(0).content(), Not(HasSubstr(HexOf("\"rows\":3"))));
  EXPECT_THAT(Suite()->List()[0].left_out(),
              ElementsAre("test2: is benchmark0 with another seed",
                          "test0: has the same tensors for every seed"));
  v1::EvaluateRequest request;
  v1::Task in_mode;
  const absl::Status set = Suite()->SetMode("rows_v2", "test", &request, &in_mode);
  ASSERT_TRUE(set.ok()) << set;
  EXPECT_THAT(request.workload_uuids(), ElementsAre("test1", "benchmark0"));
  EXPECT_EQ(in_mode.workloads_size(), 2);
  Describe(v1::OUTCOME_PASSED, repeating("[["));
  EXPECT_THAT(LoadError(), HasSubstr("none whose tensors depend on the seed"));
}

TEST_F(GpuModeSuiteTest, SubmissionsStayAsTheyAreAndSeeNoReference) {
  Describe(v1::OUTCOME_PASSED, kDescription);
  const std::string submission =
      "#!POPCORN leaderboard rows_v2\nfrom task import input_t\n\n"
      "def custom_kernel(data):\n    return data\n";
  const auto task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_PYTHON);
  sources.add_files()->set_path("mine.py");
  for (const char* own : {"def run(x, y):\n    pass\n", "class Other: pass\n",
                          "def custom_kernel(d): pass\ndef run(x):\n    pass\n"}) {
    sources.mutable_files(0)->set_content(own);
    EXPECT_EQ(WithTaskEntry(*task, sources).files(0).content(), own);
  }
  sources.mutable_files(0)->set_content(submission);
  std::map<std::string, std::string> files;
  const v1::Sources whole = WithTaskEntry(*task, sources);
  for (const v1::SourceFile& file : whole.files()) files[file.path()] = file.content();
  EXPECT_EQ(files["submission.py"], submission);
  EXPECT_EQ(files["task.py"], "# task\n");
  EXPECT_EQ(files.count("reference.py"), 0u);
  EXPECT_THAT(files["kernel.py"], HasSubstr("_ROLE = \"submission\""));
  const auto program = Suite()->DescribingProgramOf("rows_v2");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->sources.files(0).path(), "kernel.py");
  EXPECT_EQ(program->sources.files_size(), 4);
}

TEST_F(GpuModeSuiteTest, SubmissionsHaveTheClassesOfObjectsBesideThem) {
  const auto with = [](const std::string& modules) {
    return absl::StrReplaceAll(
        kDescription,
        {{"\"cases\"", absl::StrCat("\"classes\": \"class Box: pass\\n\", \"modules\": ", modules,
                                    ", \"cases\"")}});
  };
  Describe(v1::OUTCOME_PASSED, with("[\"reference\", \"torch.nn.modules.linear\"]"));
  const auto task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  std::map<std::string, std::string> files;
  for (const v1::SourceFile& file : task->forms(0).files()) files[file.path()] = file.content();
  EXPECT_EQ(files["reference.py"], "class Box: pass\n");
  EXPECT_THAT(files["kernel.py"], HasSubstr("    import reference\n"
                                            "    import torch.nn.modules.linear\n"
                                            "    return {\"reference\": reference, "));
  for (const char* modules : {"[\"torch; import os\"]", "[\"a..b\"]", "[3]", "\"torch\""}) {
    Describe(v1::OUTCOME_PASSED, with(modules));
    EXPECT_THAT(LoadError(), HasSubstr("modules")) << modules;
  }
}

// Where eval.py calls functions of other names, a worker says which, and with which arguments.
TEST_F(GpuModeSuiteTest, FunctionsAndArgumentsAreThoseThatEvalShows) {
  const std::string calls = R"("entries": {"generate": "make", "calls": [
    {"reference": "forward", "submission": "go_forward", "arguments": [{"part": 0}], "named": []},
    {"reference": "backward", "submission": "go_back", "arguments": [{"part": 1}], "named": []}]},
    "cases")";
  const std::string description = absl::StrReplaceAll(
      kDescription, {{"\"cases\"", calls},
                     {"{\"shapes\": [[3,", "{\"arguments\": {\"n\": 30}, \"shapes\": [[3,"},
                     {"{\"shapes\": [[5,", "{\"arguments\": {\"n\": 50}, \"shapes\": [[5,"},
                     {"{\"shapes\": [[64,", "{\"arguments\": {\"n\": 640}, \"shapes\": [[64,"}});
  Write("problems/small/eval.py", "# what it calls\n");
  Describe(v1::OUTCOME_PASSED, description);
  const auto task = Suite()->Load("rows_v2");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_THAT(task->references(0).files(0).content(),
              AllOf(HasSubstr(HexOf("\"cases\":[{\"n\":30},{\"n\":50},{\"n\":640}]")),
                    HasSubstr(HexOf("\"submission\":\"go_back\""))));
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_PYTHON);
  sources.add_files()->set_content("def go_forward(x):\n    pass\n");
  EXPECT_EQ(FormOf(*task, sources), &task->forms(0));
  sources.mutable_files(0)->set_content("def custom_kernel(data):\n    pass\n");
  EXPECT_EQ(FormOf(*task, sources), nullptr);
  EXPECT_THAT(task->forms(0).instructions(),
              AllOf(HasSubstr("`go_back`"), HasSubstr("`backward`"), Not(HasSubstr("custom_ker"))));
  // The worker that describes the problem runs it; no one else has it.
  const auto program = Suite()->DescribingProgramOf("rows_v2");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->sources.files(program->sources.files_size() - 1).path(), "eval.py");
  for (const v1::SourceFile& file : task->references(0).files()) EXPECT_NE(file.path(), "eval.py");

  Describe(v1::OUTCOME_PASSED, absl::StrReplaceAll(description, {{"\"go_back\"", "\"go back\""}}));
  EXPECT_THAT(LoadError(), HasSubstr("entries"));
  Describe(v1::OUTCOME_PASSED, absl::StrReplaceAll(description, {{"\"n\": 50", "\"n\": [50"}}));
  EXPECT_THAT(LoadError(), HasSubstr("rows_py"));
  Describe(v1::OUTCOME_PASSED,
           absl::StrReplaceAll(description, {{"\"arguments\": {\"n\": 50}, ", ""}}));
  EXPECT_THAT(LoadError(), HasSubstr("cases[1]"));
  for (const char* entries : {"[]", "{}", "{\"calls\": []}", "{\"calls\": [3]}"}) {
    Describe(
        v1::OUTCOME_PASSED,
        absl::StrReplaceAll(
            kDescription, {{"\"cases\"", absl::StrCat("\"entries\": ", entries, ", \"cases\"")}}));
    EXPECT_THAT(LoadError(), HasSubstr("entries")) << entries;
  }
}

TEST_F(GpuModeSuiteTest, WhatNoTaskCanBeIsToldWithItsField) {
  EXPECT_THAT(ErrorWith("lang: \"py\"", "lang: \"cu\""), HasSubstr("task.yml:7: lang"));
  EXPECT_THAT(ErrorWith("config:", "multi_gpu: true\nconfig:"), HasSubstr("several GPUs"));
  EXPECT_THAT(ErrorWith("../utils.py", "../../../../../etc/passwd.py"),
              HasSubstr("files[2].source"));
  EXPECT_THAT(ErrorWith("\"source\": \"task.py\"", "\"source\": \"gone.py\""),
              HasSubstr("files[1].source"));
  EXPECT_THAT(ErrorWith("\"name\": \"task.py\"", "\"name\": \"../task.py\""),
              HasSubstr("files[1].name"));
  EXPECT_THAT(ErrorWith("\"name\": \"task.py\"", "\"name\": \"kernel.py\""),
              HasSubstr("files[1].name"));
  EXPECT_THAT(ErrorWith("\"name\": \"reference.py\"", "\"name\": \"ref.py\""),
              HasSubstr("no reference.py"));
  EXPECT_THAT(ErrorWith("\"rows\": 3", "\"rows\": {}"), HasSubstr("tests[0].rows"));
  EXPECT_THAT(ErrorWith("\"rows\": 3", "\"ro ws\": 3"), HasSubstr("tests[0].ro ws"));
  EXPECT_THAT(ErrorWith("lang:", "lang: ["), HasSubstr("task.yml:"));
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\nsize 12\n";
  Write("problems/small/rows_py/pointer.py", pointer);
  EXPECT_THAT(ErrorWith("\"source\": \"task.py\"", "\"source\": \"pointer.py\""),
              AllOf(HasSubstr("files[1].source"), HasSubstr("git lfs pull")));
  Write("problems/small/rows_py/task.yml", pointer);
  EXPECT_THAT(LoadError(), AllOf(HasSubstr("task.yml"), HasSubstr("git lfs pull")));
}

TEST_F(GpuModeSuiteTest, FailedAndWrongDescriptionsAreTold) {
  Describe(v1::OUTCOME_COMPILE_TIMEOUT, "");
  EXPECT_THAT(LoadError(), AllOf(HasSubstr("rows_py"), HasSubstr("out of time")));
  Describe(v1::OUTCOME_PASSED, R"({"error": "judges properties"})");
  EXPECT_THAT(LoadError(), AllOf(HasSubstr("rows_py"), HasSubstr("judges properties")));
  Describe(v1::OUTCOME_PASSED, "garbage");
  EXPECT_THAT(LoadError(), HasSubstr("rows_py:1"));
  const std::pair<const char*, const char*> changes[] = {
      {"\"output\": 0", "\"output\": 2"},
      {"\"name\": \"x\"", "\"name\": \"y\""},
      {"\"name\": \"x\"", "\"name\": \"double\""},
      {"\"atol\": 0.01", "\"atol\": -1"},
      {"\"dtype\": \"int64\"", "\"dtype\": \"uint8\""},
      {"[[5, 8], [5, 8]]", "[[5, 8]]"},
      {"[[5, 8], [5, 8]]", "[[5, 8, 1], [5, 8]]"},
      {"[0.25]", "[true]"},
      {"\"cases\": [", "\"cases\": [{},"},
      {"\"kind\": \"float\"", "\"kind\": \"text\""}};
  for (const auto& [from, to] : changes) {
    Describe(v1::OUTCOME_PASSED, absl::StrReplaceAll(kDescription, {{from, to}}));
    EXPECT_THAT(LoadError(), HasSubstr("rows_py")) << to;
  }
}

TEST_F(GpuModeSuiteTest, OtherFoldersAreRefused) {
  EXPECT_THAT(std::string(Make(root_ / "nowhere").status().message()), HasSubstr("not exist"));
  fs::create_directories(root_ / "empty");
  EXPECT_THAT(std::string(Make(root_ / "empty").status().message()),
              HasSubstr("not a checkout of reference-kernels"));
}

}  // namespace
}  // namespace ksearch
