#include "cli/local/machine_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class MachinePartTest : public testing::Test {
 protected:
  MachinePartTest() {
    std::string pattern = "/tmp/ksearch-look-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ + "/libksearch_python_runner.so") << "built";
  }
  ~MachinePartTest() override { std::filesystem::remove_all(folder_); }
  void AddProgram(const std::string& path) {
    std::filesystem::create_directories(std::filesystem::path(folder_ + path).parent_path());
    std::ofstream(folder_ + path) << "#!/bin/sh\n";
    ::chmod((folder_ + path).c_str(), 0755);
  }

  std::string folder_;
};

TEST_F(MachinePartTest, LooksOnThePathGiven) {
  AddProgram("/bin/g++");
  AddProgram("/bin/python3");
  AddProgram("/venv/bin/python3");
  std::filesystem::create_directories(folder_ + "/gpus/0000:0a:00.0");
  std::ofstream(folder_ + "/gpus/0000:0a:00.0/information")
      << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 1\n";
  Environment environment = {{"PATH", folder_ + "/none:" + folder_ + "/bin"}};
  MachineFacts look = ExamineMachine(environment, folder_ + "/gpus");
  EXPECT_EQ(look.gxx, folder_ + "/bin/g++");
  EXPECT_EQ(look.python, folder_ + "/bin/python3");
  EXPECT_THAT(look.gpus, testing::ElementsAre("NVIDIA H200"));
  environment["VIRTUAL_ENV"] = folder_ + "/venv";
  EXPECT_EQ(ExamineMachine(environment, folder_).python, folder_ + "/venv/bin/python3");
  EXPECT_THAT(ExamineMachine({}, "/nonexistent").gpus, IsEmpty());
}

TEST_F(MachinePartTest, WhatIsMissingComesWithItsFix) {
  for (const MachinePart& part : PartsOf(MachineFacts(), folder_)) {
    EXPECT_FALSE(part.missing.empty());
    EXPECT_FALSE(part.fix.empty()) << part.missing;
  }
  MachineFacts look;
  look.gxx = "/usr/bin/g++";
  look.python = "/usr/bin/python3";
  look.gpus = {"NVIDIA H200"};
  std::vector<MachinePart> parts = PartsOf(look, folder_);
  ASSERT_THAT(parts, SizeIs(4)) << "Python's are for GPUs and processors";
  EXPECT_THAT(parts[0].missing, IsEmpty());
  EXPECT_THAT(parts[1].missing, HasSubstr("NVIDIA H200, but no nvcc"));
  EXPECT_THAT(parts[2].missing, IsEmpty());
  EXPECT_THAT(parts[3].missing, IsEmpty());
  look.nvcc = "/usr/local/cuda/bin/nvcc";
  EXPECT_THAT(PartsOf(look, folder_)[1].missing, IsEmpty());
  EXPECT_THAT(PartsOf(look, "/nonexistent")[2].missing, HasSubstr("python_runner"));
  look.gpus.clear();
  EXPECT_THAT(PartsOf(look, folder_)[2].missing,
              StartsWith("no Python candidates for GPUs: there"));
  EXPECT_THAT(PartsOf(look, folder_)[3].missing, IsEmpty());
}

TEST_F(MachinePartTest, OneWorkerDoesAllParts) {
  MachineFacts look;
  look.gxx = look.nvcc = look.python = "there";
  look.gpus = {"NVIDIA H200"};
  const v1::WorkerConfig config = WorkerConfigFor(PartsOf(look, folder_));
  ASSERT_EQ(config.toolchains_size(), 3);
  EXPECT_EQ(config.device().device_class(), v1::DEVICE_CLASS_CPU);
  ASSERT_EQ(config.more_devices_size(), 1) << "C++ and Python share the processors";
  EXPECT_EQ(config.more_devices(0).device_class(), v1::DEVICE_CLASS_CUDA);
  MachinePart cuda;
  cuda.language = v1::LANGUAGE_CUDA;
  cuda.device = v1::DEVICE_CLASS_CUDA;
  EXPECT_EQ(WorkerConfigFor({cuda}).device().device_class(), v1::DEVICE_CLASS_CUDA);
  EXPECT_EQ(WorkerConfigFor({cuda}).more_devices_size(), 0);
}

TEST(SelfTestReportTest, TellsWhatAWorkerCanDoFromWhatItLacks) {
  const auto report = ParseSelfTest(R"({"usable": true, "findings": [
      {"level": "OK", "what": "account", "text": "uid 1", "fix": ""},
      {"level": "OK", "what": "compiler", "text": "cpp builds", "fix": ""},
      {"level": "WARN", "what": "cgroups", "text": "none", "fix": "start it\nas root"},
      {"level": "WARN", "what": "coordinator", "text": "no socket", "fix": "start it"}]})");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->usable);
  EXPECT_FALSE(report->machine_is_at_fault);
  ASSERT_THAT(report->found, SizeIs(1));
  EXPECT_EQ(report->found[0].what, "compiler: cpp builds");
  ASSERT_THAT(report->lacking, SizeIs(1));
  EXPECT_EQ(report->lacking[0].what, "cgroups: none");
  EXPECT_EQ(report->lacking[0].fix, "start it; as root");
}

TEST(SelfTestReportTest, FaultOfTheMachineIsTold) {
  const auto sandbox = ParseSelfTest(
      R"({"usable": false, "findings": [{"level": "FAIL", "what": "sandbox", "text": "no"}]})");
  ASSERT_TRUE(sandbox.ok());
  EXPECT_TRUE(sandbox->machine_is_at_fault);
  const auto compiler = ParseSelfTest(
      R"({"usable": false, "findings": [{"level": "FAIL", "what": "compiler", "text": "no"}]})");
  ASSERT_TRUE(compiler.ok());
  EXPECT_FALSE(compiler->usable);
  EXPECT_FALSE(compiler->machine_is_at_fault);
}

TEST(SelfTestReportTest, AnythingElseIsNoReport) {
  for (const char* text : {"", "[]", "{}", R"({"usable": true})", "Segmentation fault"}) {
    EXPECT_EQ(ParseSelfTest(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace ksearch
