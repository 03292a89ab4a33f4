// The records of results/ name existing files, tasks and commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/options.h"
#include "cli/result_record.h"
#include "common/identity.h"
#include "common/textproto.h"
#include "coordinator/tasks/directory_suite.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

std::string Source(const std::string& relative) {
  const char* root = std::getenv("KSEARCH_SOURCE_DIR");
  return absl::StrCat(root == nullptr ? "." : root, "/", relative);
}

struct Record {
  std::string folder;  // "results/NAME"
  Json json;
};

std::vector<Record> Records() {
  std::vector<Record> records;
  for (const auto& entry : std::filesystem::directory_iterator(Source("results"))) {
    std::ifstream file(entry.path() / "record.json");
    if (!file) continue;
    records.push_back(
        {absl::StrCat("results/", entry.path().filename().string()), Json::parse(file)});
  }
  return records;
}

TEST(Results, EveryFolderWithAKernelHasARecord) {
  EXPECT_EQ(Records().size(), 3u);
  for (const auto& entry : std::filesystem::directory_iterator(Source("results"))) {
    if (!std::filesystem::exists(entry.path() / "kernel.cu")) continue;
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "record.json")) << entry.path();
  }
}

TEST(Results, FileIsTheOneThatWasConfirmed) {
  for (const Record& record : Records()) {
    const std::string path =
        absl::StrCat(record.folder, "/", record.json.at("file").get<std::string>());
    const auto content = ReadFile(Source(path), 1 << 20);
    ASSERT_TRUE(content.ok()) << content.status();
    v1::Sources sources;
    sources.set_language(v1::LANGUAGE_CUDA);
    sources.add_files()->set_path("kernel.cu");
    sources.mutable_files(0)->set_content(*content);
    EXPECT_EQ(CandidateId(sources), record.json.at("candidate_id")) << path;
  }
}

TEST(Results, TaskIsOneOfTheBuiltInTasks) {
  const auto tasks = MakeDirectorySuite({Source("configs/tasks")});
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  for (const Record& record : Records()) {
    const std::string name = record.json.at("task");
    const auto task = (*tasks)->Load(name);
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_EQ(task->workloads_size(), record.json.at("workloads").get<int>()) << name;
    if (TaskDigest(*task) != record.json.at("task_sha256")) {
      std::printf("%s has changed since its result was measured\n", name.c_str());
    }
  }
}

TEST(Results, IntervalHoldsTheSpeedup) {
  for (const Record& record : Records()) {
    std::vector<Json> claims = {record.json};
    for (const char* list : {"rivals", "measured_again"}) {
      for (const Json& claim : record.json.value(list, Json::array())) claims.push_back(claim);
    }
    for (const Json& claim : claims) {
      EXPECT_LE(claim.at("low").get<double>(), claim.at("speedup").get<double>());
      EXPECT_LE(claim.at("speedup").get<double>(), claim.at("high").get<double>());
    }
  }
}

TEST(Results, CommandThatChecksItAgainIsTaken) {
  const auto readme = ReadFile(Source("results/README.md"), 1 << 20);
  ASSERT_TRUE(readme.ok()) << readme.status();
  for (const Record& record : Records()) {
    const std::string command = record.json.at("recheck");
    EXPECT_THAT(*readme, testing::HasSubstr(command));
    std::vector<std::string> words = absl::StrSplit(command, ' ');
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    int exit_code = 0;
    const auto options =
        ParseOptions(static_cast<int>(arguments.size()), arguments.data(), &exit_code);
    ASSERT_TRUE(options.has_value()) << command << " gives " << exit_code;
    EXPECT_EQ(options->command, "recheck");
    EXPECT_EQ(options->run_id, record.folder);
    const auto read = ReadRecordedResult(Source(record.folder));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->task, record.json.at("task"));
    EXPECT_EQ(read->sources.language(), v1::LANGUAGE_CUDA);
    EXPECT_EQ(read->claim.device().name(), record.json.at("device"));
  }
}

}  // namespace
}  // namespace ksearch
