#include "coordinator/service/given_programs.h"

#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

// A suite with one solution, "known", whose format is a file that ends in ".form".
class Solutions final : public TaskSuite {
 public:
  std::vector<v1::TaskSummary> List() const override { return {}; }
  absl::StatusOr<v1::Task> Load(const std::string&) const override { return v1::Task(); }
  absl::Status Adapt(const std::string&, v1::Sources* sources) const override {
    if (sources->files_size() != 1 || !absl::EndsWith(sources->files(0).path(), ".form")) {
      return absl::OkStatus();
    }
    *sources = Program();
    return absl::OkStatus();
  }
  absl::StatusOr<v1::Sources> LoadSolution(const std::string&,
                                           const std::string& solution) const override {
    if (solution != "known") return absl::NotFoundError("no solution");
    return Program();
  }
  static v1::Sources Program() {
    v1::Sources program;
    program.set_language(v1::LANGUAGE_PYTHON);
    program.add_files()->set_path("kernel.py");
    return program;
  }
};

v1::SourceFile File(const std::string& path) {
  v1::SourceFile file;
  file.set_path(path);
  return file;
}

TEST(GivenProgramsTest, NamesAndOwnFormsBecomeProgramsOfTheTask) {
  v1::EvaluateRequest request;
  request.set_task("suite/task");
  request.set_solution_name("known");
  *request.mutable_rival()->add_files() = File("a.form");
  ASSERT_TRUE(ReadPrograms(Solutions(), &request).ok());
  EXPECT_EQ(request.sources().language(), v1::LANGUAGE_PYTHON);
  EXPECT_EQ(request.sources().files(0).path(), "kernel.py");
  EXPECT_EQ(request.rival().files(0).path(), "kernel.py");
  EXPECT_EQ(request.solution_name(), "");

  // The name of a file is none of a solution.
  v1::EvaluateRequest path;
  path.set_task("suite/task");
  path.set_solution_name("nosuch");
  EXPECT_EQ(ReadPrograms(Solutions(), &path).message(), "no solution");
  path.set_solution_name("good.py");
  EXPECT_EQ(ReadPrograms(Solutions(), &path).message(),
            "no solution; a program in a file is given by its path: eval FILE, --rival FILE, run "
            "--seed-solution FILE");

  v1::EvaluateRequest plain;
  *plain.mutable_sources()->add_files() = File("kernel.cpp");
  ASSERT_TRUE(ReadPrograms(Solutions(), &plain).ok());
  EXPECT_EQ(plain.sources().files(0).path(), "kernel.cpp");
  EXPECT_FALSE(plain.has_rival());
}

TEST(GivenProgramsTest, ModeDecidesWhatIsDoneUnlessTheSuiteHasNone) {
  v1::EvaluateRequest request;
  request.set_task("suite/task");
  v1::Task task;
  EXPECT_TRUE(ReadMode(Solutions(), &request, &task).ok());
  request.set_suite_mode("benchmark");
  EXPECT_THAT(ReadMode(Solutions(), &request, &task).ToString(),
              HasSubstr("'suite/task' is of no suite with an evaluator of its own"));
  request.add_workload_uuids("one");
  EXPECT_THAT(ReadMode(Solutions(), &request, &task).ToString(),
              HasSubstr("suite_mode: a mode decides what is done on which workloads"));
}

TEST(GivenProgramsTest, WhatHasCudaCompiledMayTakeLongerUnlessTheRequestSaysHowLong) {
  v1::EvaluateRequest request;
  v1::Sources& sources = *request.mutable_sources();
  sources.set_language(v1::LANGUAGE_PYTHON);
  *sources.add_files() = File("kernel.py");
  ASSERT_TRUE(ReadPrograms(Solutions(), &request).ok());
  EXPECT_FALSE(request.limits().has_build_time());
  *sources.add_files() = File("parts/kernel.cu");
  ASSERT_TRUE(ReadPrograms(Solutions(), &request).ok());
  EXPECT_EQ(request.limits().build_time().seconds(), 300);
  request.mutable_limits()->mutable_build_time()->set_seconds(20);
  ASSERT_TRUE(ReadPrograms(Solutions(), &request).ok());
  EXPECT_EQ(request.limits().build_time().seconds(), 20);

  v1::EvaluateRequest inlined;
  inlined.mutable_sources()->set_language(v1::LANGUAGE_PYTHON);
  *inlined.mutable_sources()->add_files() = File("kernel.py");
  inlined.mutable_sources()->mutable_files(0)->set_content(
      "from torch.utils.cpp_extension import load_inline\n");
  ASSERT_TRUE(ReadPrograms(Solutions(), &inlined).ok());
  EXPECT_EQ(inlined.limits().build_time().seconds(), 300);

  v1::EvaluateRequest native;
  native.mutable_sources()->set_language(v1::LANGUAGE_CUDA);
  *native.mutable_sources()->add_files() = File("kernel.cu");
  ASSERT_TRUE(ReadPrograms(Solutions(), &native).ok());
  EXPECT_FALSE(native.limits().has_build_time());
}

TEST(GivenProgramsTest, BothOrAnUnknownNameIsRefused) {
  v1::EvaluateRequest both;
  both.set_solution_name("known");
  *both.mutable_sources()->add_files() = File("kernel.cpp");
  EXPECT_THAT(std::string(ReadPrograms(Solutions(), &both).message()), HasSubstr("not both"));
  v1::EvaluateRequest unknown;
  unknown.set_rival_solution_name("other");
  EXPECT_TRUE(absl::IsNotFound(ReadPrograms(Solutions(), &unknown)));
}

TEST(GivenProgramsTest, SeedDecidesTheLanguageThatNobodyNames) {
  v1::StartRunRequest request;
  request.mutable_config()->set_task("suite/task");
  request.set_seed_solution_name("known");
  *request.mutable_config()->add_seeds()->add_files() = File("a.form");
  ASSERT_TRUE(ReadSeed(Solutions(), &request).ok());
  EXPECT_EQ(request.config().seeds(0).files(0).path(), "kernel.py");
  EXPECT_EQ(request.config().language(), v1::LANGUAGE_PYTHON);
  ASSERT_EQ(request.config().seed_solution_size(), 1);
  EXPECT_EQ(request.config().seed_solution(0).path(), "kernel.py");

  v1::StartRunRequest file;
  file.mutable_config()->set_task("suite/task");
  file.mutable_config()->set_language(v1::LANGUAGE_CUDA);
  *file.mutable_config()->add_seed_solution() = File("a.form");
  EXPECT_THAT(std::string(ReadSeed(Solutions(), &file).message()),
              HasSubstr("config.language is cuda, and the seed is a program in python"));

  v1::StartRunRequest plain;
  plain.mutable_config()->set_task("suite/task");
  plain.mutable_config()->set_language(v1::LANGUAGE_CUDA);
  *plain.mutable_config()->add_seed_solution() = File("kernel.cu");
  ASSERT_TRUE(ReadSeed(Solutions(), &plain).ok());
  EXPECT_EQ(plain.config().seed_solution(0).path(), "kernel.cu");

  v1::StartRunRequest nowhere;
  nowhere.set_seed_solution_name("known");
  EXPECT_THAT(std::string(ReadSeed(Solutions(), &nowhere).message()), HasSubstr("config.task"));
  EXPECT_TRUE(ReadSeed(Solutions(), &plain).ok());
}

}  // namespace
}  // namespace ksearch
