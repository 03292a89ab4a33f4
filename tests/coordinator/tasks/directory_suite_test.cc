#include "coordinator/tasks/directory_suite.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/identity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kDefinition[] = R"({"name": "copy", "op_type": "copy",
  "axes": {"n": {"type": "var"}},
  "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
  "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}})";
constexpr char kSettings[] = R"(
title: "Copy" device: DEVICE_CLASS_CPU held_out: "b"
tolerance { atol: 0 rtol: 1e-5 }
work { bytes: "8 * n" }
)";

std::string Line(absl::string_view uuid, absl::string_view n = "5") {
  return absl::StrCat("{\"definition\": \"copy\", \"workload\": {\"uuid\": \"", uuid,
                      "\", \"axes\": {\"n\": ", n,
                      "}, \"inputs\": {\"x\": {\"type\": \"random\"}}}}\n");
}

// A folder of tasks with one good task, "copy", in it.
class DirectorySuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-suite-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    MakeTask(root_ / "cpu" / "copy");
  }
  void TearDown() override { fs::remove_all(root_); }

  void MakeTask(const fs::path& folder) {
    Write(folder / "definition.json", kDefinition);
    Write(folder / "workloads.jsonl", Line("a") + Line("b"));
    Write(folder / "task.textproto", kSettings);
    Write(folder / "reference.cpp", "// reference");
    Write(folder / "baseline.cpp", "// baseline");
  }
  void Write(const fs::path& path, absl::string_view text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::unique_ptr<TaskSuite> Suite() {
    auto suite = MakeDirectorySuite({root_.string()});
    EXPECT_TRUE(suite.ok()) << suite.status();
    return std::move(suite).value();
  }
  std::string LoadError() { return std::string(Suite()->Load("copy").status().message()); }

  fs::path root_;
};

TEST_F(DirectorySuiteTest, ProgramsThatAreNoTextAreNamed) {
  const fs::path reference = root_ / "cpu" / "copy" / "reference.cpp";
  for (const std::string& bytes : {std::string("\x7f"
                                               "ELF\2\1\1\0\0",
                                               9),
                                   std::string("int x;\xff\xfe")}) {
    Write(reference, bytes);
    const absl::Status status = Suite()->Load("copy").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                testing::AllOf(HasSubstr("reference.cpp: is not source text: see byte "),
                               HasSubstr(absl::StrCat(" of ", bytes.size()))));
    ASSERT_EQ(Suite()->List().size(), 1u);
    EXPECT_EQ(Suite()->List()[0].error(), status.message());
  }
}

TEST_F(DirectorySuiteTest, NamesThatNoProgramCanUseAreRefusedWithTheirLine) {
  const fs::path definition = root_ / "cpu" / "copy" / "definition.json";
  for (const char* name : {"class", "new", "int", "co_await"}) {
    Write(definition,
          absl::StrReplaceAll(kDefinition, {{"\"x\"", absl::StrCat("\"", name, "\"")}}));
    EXPECT_THAT(std::string(Suite()->Load("copy").status().message()),
                testing::AllOf(HasSubstr("definition.json:3: inputs."),
                               HasSubstr(absl::StrCat("'", name, "' is a keyword of C++"))));
  }
  Write(definition, absl::StrReplaceAll(kDefinition, {{"\"x\"", "\"int64_t\""}}));
  EXPECT_THAT(std::string(Suite()->Load("copy").status().message()),
              HasSubstr("'int64_t' is a name of ksearch_task.h"));
  Write(definition, absl::StrReplaceAll(kDefinition, {{"\"n\"", "\"for\""}}));
  EXPECT_THAT(std::string(Suite()->Load("copy").status().message()),
              HasSubstr("definition.json:2: axes.for: 'for' is a keyword"));
}

TEST_F(DirectorySuiteTest, OneFolderBelowTwoDirectoriesIsOneTask) {
  const auto suite = MakeDirectorySuite({(root_ / "cpu").string(), root_.string()});
  ASSERT_TRUE(suite.ok());
  ASSERT_EQ((*suite)->List().size(), 1u);
  EXPECT_EQ((*suite)->List()[0].error(), "");
}

TEST_F(DirectorySuiteTest, PathsAreAbsoluteWhereverTheCoordinatorStarts) {
  const fs::path before = fs::current_path();
  fs::current_path(root_.parent_path());
  const auto suite = MakeDirectorySuite({absl::StrCat("./", root_.filename().string(), "/cpu/")});
  fs::current_path(before);
  ASSERT_TRUE(suite.ok()) << suite.status();
  ASSERT_EQ((*suite)->List().size(), 1u);
  EXPECT_EQ((*suite)->List()[0].path(), (root_ / "cpu" / "copy").string());
  EXPECT_TRUE((*suite)->Load("copy").ok());
}

TEST_F(DirectorySuiteTest, LoadsAWholeTask) {
  const auto task = Suite()->Load("copy");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->name(), "copy");
  EXPECT_EQ(task->title(), "Copy");
  EXPECT_EQ(task->device(), v1::DEVICE_CLASS_CPU);
  ASSERT_EQ(task->workloads_size(), 2);
  EXPECT_FALSE(task->workloads(0).held_out());
  EXPECT_TRUE(task->workloads(1).held_out());
  ASSERT_EQ(task->references_size(), 1);
  EXPECT_EQ(task->references(0).language(), v1::LANGUAGE_CPP);
  EXPECT_EQ(task->references(0).files(0).path(), "reference.cpp");
  EXPECT_EQ(task->baselines(0).files(0).content(), "// baseline");
  EXPECT_EQ(TaskDigest(*task), TaskDigest(*Suite()->Load("copy")));
}

TEST_F(DirectorySuiteTest, ProgramsInPythonMayStandAloneOrBesideOthers) {
  const fs::path folder = root_ / "cpu" / "copy";
  const auto languages = [](const auto& programs) {
    std::vector<v1::Language> found;
    for (const v1::Sources& sources : programs) found.push_back(sources.language());
    return found;
  };
  const std::string alone_in_cpp = TaskDigest(*Suite()->Load("copy"));
  Write(folder / "reference.py", "def run(x):\n  return x\n");
  const auto both = Suite()->Load("copy");
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(languages(both->references()), ElementsAre(v1::LANGUAGE_CPP, v1::LANGUAGE_PYTHON));
  EXPECT_THAT(languages(both->baselines()), ElementsAre(v1::LANGUAGE_CPP));
  EXPECT_EQ(both->references(1).files(0).path(), "reference.py");
  EXPECT_EQ(both->references(1).files(0).content(), "def run(x):\n  return x\n");
  EXPECT_NE(TaskDigest(*both), alone_in_cpp);

  fs::remove(folder / "reference.cpp");
  fs::rename(folder / "baseline.cpp", folder / "baseline.py");
  const auto task = Suite()->Load("copy");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_THAT(languages(task->references()), ElementsAre(v1::LANGUAGE_PYTHON));
  EXPECT_THAT(languages(task->baselines()), ElementsAre(v1::LANGUAGE_PYTHON));
  EXPECT_THAT(Suite()->List()[0].languages(), ElementsAre(v1::LANGUAGE_PYTHON));
}

TEST_F(DirectorySuiteTest, BadFilesInPythonAreRefusedAsOthersAre) {
  const fs::path reference = root_ / "cpu" / "copy" / "reference.py";
  Write(reference, "def run(x):\n  return x  # \xff\n");
  EXPECT_THAT(LoadError(), HasSubstr("reference.py: is not source text: see byte 26 of 28"));
  Write(reference, "");
  EXPECT_THAT(LoadError(), HasSubstr("reference.py: is empty"));
  fs::resize_file(reference, uintmax_t{100} << 20);
  EXPECT_THAT(LoadError(), testing::AllOf(HasSubstr("reference.py"), HasSubstr("1048576")));
  fs::remove(reference);
  fs::create_directory(reference);
  EXPECT_THAT(LoadError(), HasSubstr("reference.py"));
}

TEST_F(DirectorySuiteTest, ListsGoodAndBadTasks) {
  MakeTask(root_ / "other" / "copy");
  Write(root_ / "cpu" / "broken" / "definition.json", "{\n");
  const auto tasks = Suite()->List();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].name(), "broken");
  EXPECT_THAT(tasks[0].error(), HasSubstr("broken/definition.json:"));
  EXPECT_EQ(tasks[1].name(), "copy");
  EXPECT_EQ(tasks[1].error(), "");
  EXPECT_EQ(tasks[1].feedback_workloads(), 1);
  EXPECT_EQ(tasks[1].held_out_workloads(), 1);
  EXPECT_EQ(tasks[1].languages(0), v1::LANGUAGE_CPP);
  EXPECT_THAT(tasks[2].error(), HasSubstr("hidden by the task of the same name"));
}

TEST_F(DirectorySuiteTest, AnUnknownTaskNamesNearOnes) {
  const auto task = Suite()->Load("cpoy");
  EXPECT_EQ(task.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(task.status().message()), HasSubstr("nearest: copy"));
  EXPECT_EQ(Suite()->Load("../cpu/copy").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DirectorySuiteTest, FoldersWithoutTasksAreNamedWithTheFix) {
  fs::remove_all(root_ / "cpu");
  const auto task = Suite()->Load("copy");
  EXPECT_EQ(task.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(task.status().message()),
              testing::AllOf(HasSubstr(absl::StrCat("no tasks at all in ", root_.string())),
                             HasSubstr("--task-dir")));
}

TEST_F(DirectorySuiteTest, EditsAreSeenWithoutANewSuite) {
  const auto suite = Suite();
  ASSERT_TRUE(suite->Load("copy").ok());
  Write(root_ / "cpu" / "copy" / "workloads.jsonl", Line("a"));
  EXPECT_THAT(std::string(suite->Load("copy").status().message()),
              HasSubstr("task.textproto: held_out[0]: no workload has the uuid \"b\""));
}

TEST_F(DirectorySuiteTest, ErrorsNameFileAndField) {
  const fs::path folder = root_ / "cpu" / "copy";
  const auto with_settings = [&](absl::string_view text) {
    Write(folder / "task.textproto", text);
    return LoadError();
  };
  EXPECT_THAT(with_settings("device: DEVICE_CLASS_CPU"), HasSubstr("held_out: must name at least"));
  EXPECT_THAT(with_settings("device: DEVICE_CLASS_CPU held_out: 'a' held_out: 'b'"),
              HasSubstr("held_out: names every workload"));
  EXPECT_THAT(with_settings("held_out: 'b'"), HasSubstr("device: is missing"));
  EXPECT_THAT(with_settings("device: DEVICE_CLASS_CPU\nheld: 'b'"), HasSubstr("task.textproto:2:"));
  EXPECT_THAT(with_settings("device: DEVICE_CLASS_CPU held_out: 'b' tolerance { rtol: -1 }"),
              HasSubstr("tolerance.rtol: must be from 0"));
  EXPECT_THAT(
      with_settings("device: DEVICE_CLASS_CPU held_out: 'b' tolerance { max_rms_error_ratio: 3 }"),
      HasSubstr("set both or none"));
  EXPECT_THAT(with_settings("device: DEVICE_CLASS_CPU held_out: 'b' work { flops: '2 * m' }"),
              HasSubstr("work.flops: column 5: unknown axis 'm'"));
  EXPECT_THAT(with_settings("device: DEVICE_CLASS_CUDA held_out: 'b'"),
              HasSubstr("reference.cpp: a program of this kind cannot run"));
}

TEST_F(DirectorySuiteTest, AMissingFileIsNamed) {
  for (const char* name : {"workloads.jsonl", "task.textproto", "reference.cpp", "baseline.cpp"}) {
    const fs::path path = root_ / "cpu" / "copy" / name;
    fs::rename(path, root_ / "away");
    const auto task = Suite()->Load("copy");
    EXPECT_EQ(task.status().code(), absl::StatusCode::kNotFound) << name;
    EXPECT_THAT(std::string(task.status().message()), HasSubstr(fs::path(name).stem().string()));
    fs::rename(root_ / "away", path);
  }
}

TEST_F(DirectorySuiteTest, RejectsBuffersOfImpossibleSize) {
  Write(root_ / "cpu" / "copy" / "workloads.jsonl", Line("a", "1000000000000") + Line("b"));
  EXPECT_THAT(LoadError(), HasSubstr("larger than 1 TiB"));
}

TEST_F(DirectorySuiteTest, TheFolderMustBearTheTasksName) {
  fs::rename(root_ / "cpu" / "copy", root_ / "cpu" / "kopie");
  EXPECT_THAT(std::string(Suite()->Load("kopie").status().message()),
              HasSubstr("name: is \"copy\", but the folder is \"kopie\""));
}

TEST(MakeDirectorySuiteTest, RejectsAMissingFolder) {
  EXPECT_EQ(MakeDirectorySuite({"/nonexistent/tasks"}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ShippedTasksTest, EveryOneLoads) {
  auto suite =
      MakeDirectorySuite({absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/configs/tasks")});
  ASSERT_TRUE(suite.ok()) << suite.status();
  int tasks = 0;
  for (const v1::TaskSummary& task : (*suite)->List()) {
    EXPECT_EQ(task.error(), "") << task.path();
    if (task.device() != v1::DEVICE_CLASS_CPU) continue;
    ++tasks;
    EXPECT_GE(task.feedback_workloads(), 5) << task.name();
    EXPECT_GE(task.held_out_workloads(), 2) << task.name();
  }
  EXPECT_GE(tasks, 4);
}

// A reference.py is enough: words in the settings turn it into programs.
TEST_F(DirectorySuiteTest, TheReferenceInTorchServesAsBaselineByOneWord) {
  const fs::path folder = root_ / "cpu" / "copy";
  fs::remove(folder / "baseline.cpp");
  fs::remove(folder / "reference.cpp");
  const std::string text = "def run(x):\n    return x + 0";  // no newline at its end
  Write(folder / "reference.py", text);
  EXPECT_THAT(LoadError(), HasSubstr("there is no baseline"));
  Write(folder / "task.textproto", absl::StrCat(kSettings, "baseline: \"torch\""));
  const v1::Task eager = Suite()->Load("copy").value();
  ASSERT_EQ(eager.baselines_size(), 1);
  EXPECT_EQ(eager.baselines(0).language(), v1::LANGUAGE_PYTHON);
  EXPECT_EQ(eager.baselines(0).files(0).path(), "baseline.py");
  EXPECT_EQ(eager.baselines(0).files(0).content(), text);
  EXPECT_EQ(eager.references(0).files(0).content(), text);

  Write(folder / "task.textproto", absl::StrCat(kSettings,
                                                "baseline: \"torch.compile\" "
                                                "reference_precision: \"float64\""));
  const v1::Task compiled = Suite()->Load("copy").value();
  EXPECT_THAT(compiled.baselines(0).files(0).content(),
              testing::AllOf(testing::StartsWith(text + "\n"),
                             HasSubstr("torch.compile(run, dynamic=False)")));
  EXPECT_THAT(compiled.references(0).files(0).content(),
              testing::AllOf(testing::StartsWith(text + "\n"),
                             HasSubstr("_ksearch_precision = _ksearch_torch.float64"),
                             HasSubstr("arguments[:1], arguments[1:]")));
  EXPECT_NE(TaskDigest(compiled), TaskDigest(eager));
}

TEST_F(DirectorySuiteTest, WordsForTorchProgramsThatMeanNothingAreNamed) {
  const fs::path folder = root_ / "cpu" / "copy";
  const auto error_of = [&](const std::string& settings) {
    Write(folder / "task.textproto", absl::StrCat(kSettings, settings));
    return LoadError();
  };
  EXPECT_THAT(
      error_of("baseline: \"torch\""),
      HasSubstr("task.textproto: baseline: is for a reference.py, which the task does not"));
  EXPECT_THAT(error_of("reference_precision: \"float64\""),
              HasSubstr("task.textproto: reference_precision: is for a reference.py"));
  Write(folder / "reference.py", "def run(x):\n    return x + 0\n");
  EXPECT_THAT(error_of("baseline: \"eager\""),
              HasSubstr("baseline: must be \"torch\" or \"torch.compile\", is \"eager\""));
  EXPECT_THAT(error_of("reference_precision: \"double\""),
              HasSubstr("reference_precision: must be \"float64\" or \"float32\", is \"double\""));
  Write(folder / "baseline.py", "def run(x):\n    return x + 0\n");
  EXPECT_THAT(error_of("baseline: \"torch\""), HasSubstr("there is a baseline.py too"));
}

TEST_F(DirectorySuiteTest, MadeInputsNeedTheReferenceThatMakesThem) {
  const fs::path folder = root_ / "cpu" / "copy";
  const std::string made = absl::StrReplaceAll(
      absl::StrCat(Line("a"), Line("b")),
      {{"\"type\": \"random\"", "\"type\": \"random\", \"recipe\": \"make_inputs\""}});
  Write(folder / "workloads.jsonl", made);
  const char* const says =
      "workloads.jsonl: workload a: the recipe \"make_inputs\" needs a reference.py that defines "
      "make_inputs(seed, ...), and no reference in another language";
  EXPECT_THAT(LoadError(), HasSubstr(says));
  const std::string text = "def run(x):\n    return x + 0\n";
  Write(folder / "reference.py", text + "def make_inputs(seed, n):\n    return [x]\n");
  EXPECT_THAT(LoadError(), HasSubstr(says));
  fs::remove(folder / "reference.cpp");
  const v1::Task task = Suite()->Load("copy").value();
  EXPECT_TRUE(task.workloads(1).inputs(0).has_made());
  Write(folder / "reference.py", text);
  EXPECT_THAT(LoadError(), HasSubstr(says));
}

}  // namespace
}  // namespace ksearch
