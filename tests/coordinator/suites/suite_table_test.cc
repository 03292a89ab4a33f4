// Several suites: names, and the errors for a wrong configuration.
#include "coordinator/suites/suite_table.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "coordinator/coordinator_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string SourceFolder(const std::string& name) {
  return std::string(std::getenv("KSEARCH_SOURCE_DIR")) + "/" + name;
}

absl::StatusOr<v1::CoordinatorConfig> Config(std::vector<std::string> args) {
  CommandLineActions actions;
  return LoadCoordinatorConfig(args, &actions);
}

absl::StatusOr<std::unique_ptr<TaskSuite>> Suites(std::vector<std::string> args) {
  const auto config = Config(std::move(args));
  if (!config.ok()) return config.status();
  return MakeTaskSuites({config->task_dirs().begin(), config->task_dirs().end()}, config->suites(),
                        nullptr);
}

std::string ErrorOf(const std::string& suite) {
  return std::string(Suites({"--suite", suite}).status().message());
}

// One text that is not UTF-8 would make the list of all tasks unreadable for clients.
TEST(SuiteTableTest, BytesThatAreNoTextHideNothing) {
  namespace fs = std::filesystem;
  std::string root = (fs::temp_directory_path() / "ksearch-suite-table-XXXXXX").string();
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  fs::create_directories(root + "/definitions");
  fs::create_directories(root + "/workloads");
  std::ofstream(root + "/definitions/bytes.json") << "{\"name\": \"\xff\xc3\"}";
  const auto suite = Suites({"--suite", "flashinfer@cpu:" + root});
  ASSERT_TRUE(suite.ok()) << suite.status();
  bool found = false;
  for (const v1::TaskSummary& task : (*suite)->List()) {
    v1::TaskSummary received;  // as a client reads it, which checks texts
    EXPECT_TRUE(received.ParseFromString(task.SerializeAsString())) << task.name();
    if (task.name() != "flashinfer/bytes") continue;
    found = true;
    EXPECT_THAT(task.error(), AllOf(HasSubstr("bytes.json"), HasSubstr("UTF-8")));
  }
  EXPECT_TRUE(found);
  fs::remove_all(root);
}

TEST(SuiteTableTest, NoSuiteHidesAnother) {
  const std::string cpu = SourceFolder("configs/tasks/cpu");
  const auto suite =
      Suites({"--suite", "folders:" + cpu, "--suite", "again=folders:" + cpu, "--task-dir", cpu});
  ASSERT_TRUE(suite.ok()) << suite.status();
  const auto listed = (*suite)->List();
  const auto find = [&](const std::string& name) {
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const v1::TaskSummary& task) {
      return task.name() == name;
    });
    return found == listed.end() ? v1::TaskSummary() : *found;
  };
  ASSERT_FALSE(listed.empty());
  EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end(),
                             [](const auto& a, const auto& b) { return a.name() < b.name(); }));
  const std::string own = "layernorm_f32";  // a built-in one
  EXPECT_EQ(find(own).error(), "");
  EXPECT_EQ(find(own).suite(), "");
  int of_suite = 0;
  for (const v1::TaskSummary& task : listed) {
    if (task.suite() != "folders") continue;
    ++of_suite;
    const std::string plain = task.name().substr(task.name().find('/') + 1);
    EXPECT_EQ(find(plain).name(), plain);
    EXPECT_EQ(find("again/" + plain).suite(), "again");
    const auto loaded = (*suite)->Load("again/" + plain);
    if (!find(plain).error().empty()) continue;
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->name(), "again/" + plain);
    EXPECT_EQ(loaded->definition().name(), plain);
  }
  EXPECT_GT(of_suite, 0);
}

TEST(SuiteTableTest, TaskNamedWithoutItsSuiteIsFoundInTheMessage) {
  const auto suite = Suites({"--suite", "mine=folders:" + SourceFolder("configs/tasks"),
                             "--task-dir", SourceFolder("configs/tasks/cpu")});
  ASSERT_TRUE(suite.ok()) << suite.status();
  const absl::Status missing = (*suite)->Load("layernorm").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("mine/layernorm_f32"));
  const absl::Status in_suite = (*suite)->Load("mine/layernorm_f33").status();
  EXPECT_EQ(in_suite.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(in_suite.message()),
              AllOf(HasSubstr("suite 'mine'"), HasSubstr("layernorm_f32")));
}

TEST(SuiteTableTest, WrongConfigurationNamesTheEntry) {
  const std::string folder = SourceFolder("configs/tasks");
  EXPECT_THAT(ErrorOf("nosuch:" + folder),
              AllOf(HasSubstr("suites[0].kind: 'nosuch'"), HasSubstr("folders")));
  EXPECT_THAT(ErrorOf("folders:/nonexistent/folder"),
              AllOf(HasSubstr("suites[0]"), HasSubstr("/nonexistent/folder")));
  EXPECT_THAT(ErrorOf("a b=folders:" + folder), HasSubstr("suites[0].name: 'a b'"));
  EXPECT_THAT(ErrorOf("folders"), HasSubstr("KIND"));
  EXPECT_THAT(ErrorOf("=folders:" + folder), HasSubstr("name before '='"));
  EXPECT_THAT(ErrorOf("folders@tpu:" + folder), HasSubstr("@cpu"));
  v1::CoordinatorConfig config;
  for (int i = 0; i < 2; ++i) {
    v1::SuiteConfig* const suite = config.add_suites();
    suite->set_kind("folders");
    suite->set_path(folder);
  }
  EXPECT_THAT(std::string(MakeTaskSuites({folder}, config.suites(), nullptr).status().message()),
              AllOf(HasSubstr("suites[1].name: 'folders'"), HasSubstr("earlier suite")));
}

TEST(SuiteTableTest, ArgumentSaysNameKindDeviceAndPath) {
  const auto config = Config({"--suite", "x=flashinfer@cpu:/data:1", "--suite", "flashinfer:/d"});
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->suites_size(), 2);
  EXPECT_EQ(config->suites(0).name(), "x");
  EXPECT_EQ(config->suites(0).kind(), "flashinfer");
  EXPECT_EQ(config->suites(0).device(), v1::DEVICE_CLASS_CPU);
  EXPECT_EQ(config->suites(0).path(), "/data:1");
  EXPECT_EQ(config->suites(1).name(), "");
  EXPECT_EQ(config->suites(1).device(), v1::DEVICE_CLASS_UNSPECIFIED);
}

}  // namespace
}  // namespace ksearch
