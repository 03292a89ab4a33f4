// `ksearch task check` with a real coordinator, a worker with a Python toolchain, and tasks that
// `ksearch task new` made. Skipped where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/textproto.h"
#include "proto/task.pb.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class TaskCheckTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!HasTorch()) return;
    cluster_ = new LocalCluster();
    cluster_->UseOwnDevice();
    cluster_->AddToWorkerConfig(kPythonToolchain);
    std::filesystem::create_directory(Tasks());
    // A folder relative to where the coordinator starts, which is not where this test runs.
    cluster_->StartCoordinator("", "tasks");
    cluster_->StartWorker("w1");
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }
  void SetUp() override {
    if (cluster_ == nullptr) GTEST_SKIP() << kPython << " has no torch";
  }
  static std::string Tasks() { return cluster_->folder() + "/tasks"; }
  static void Make(const std::string& name, const std::string& text) {
    const std::string file = absl::StrCat(cluster_->folder(), "/", name, ".py");
    std::ofstream(file) << text;
    const CommandOutput made = RunProgram(
        {std::string(::getenv("KSEARCH_BIN_DIR")) + "/ksearch", "task", "new", name, "--from-torch",
         file, "--shapes", "n=40,d=200", "--output", Tasks(), "--interpreter", kPython},
        absl::Minutes(2));
    ASSERT_EQ(made.exit.code, 0) << made.err;
    KeepTwoWorkloads(absl::StrCat(Tasks(), "/", name));
  }
  // The first, and the last, which is held out: a job takes seconds to import torch.
  static void KeepTwoWorkloads(const std::string& folder) {
    const std::string text = ReadFile(folder + "/workloads.jsonl", 1 << 20).value_or("");
    const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
    ASSERT_EQ(lines.size(), 5u);
    std::ofstream(folder + "/workloads.jsonl") << lines.front() << "\n" << lines.back() << "\n";
    v1::TaskSettings settings;
    ASSERT_TRUE(ReadTextproto(folder + "/task.textproto", &settings).ok());
    settings.mutable_held_out()->DeleteSubrange(0, 2);
    std::ofstream(folder + "/task.textproto") << ToTextproto(settings);
  }
  // Puts `to` in the place of `from` in a file of a task.
  static void Replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = ReadFile(Tasks() + "/" + file, 1 << 20).value_or("");
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    std::ofstream(Tasks() + "/" + file) << text.replace(at, from.size(), to);
  }
  static CommandOutput Check(const std::string& task) {
    return cluster_->Cli({"task", "check", task}, absl::Minutes(9));
  }

  static LocalCluster* cluster_;
};

LocalCluster* TaskCheckTest::cluster_ = nullptr;

constexpr char kNorm[] = R"(import torch

def norm(x: "n d", weight: "d", eps: float = 1e-6):
    return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * weight
)";

TEST_F(TaskCheckTest, ATaskFromAFunctionOfTorchIsGood) {
  Make("norm_f32", kNorm);
  const std::string lines = ReadFile(Tasks() + "/norm_f32/workloads.jsonl", 1 << 20).value_or("");
  std::string empty = lines.substr(0, lines.find('\n') + 1);
  // Nothing refuses a cheat where there is no element.
  ASSERT_EQ(absl::StrReplaceAll({{"\"n\":40", "\"n\":0"}, {"n40_d200", "n0_d200"}}, &empty), 2)
      << empty;
  std::ofstream(Tasks() + "/norm_f32/workloads.jsonl") << lines << empty;
  const CommandOutput output = Check(Tasks() + "/norm_f32");
  EXPECT_EQ(output.exit.code, 0) << output.out << output.err;
  EXPECT_THAT(output.out, AllOf(ContainsRegex("reference .*passed on all 3"),
                                ContainsRegex("baseline .*passed on all 3"),
                                ContainsRegex("zeros .*refused on the 2 that are not empty")));
  EXPECT_THAT(output.out, AllOf(ContainsRegex("copied .*refused on the 2"),
                                ContainsRegex("stale .*refused on the 2"),
                                ContainsRegex("truncated .*refused on the 2")));
  EXPECT_THAT(output.out, AllOf(HasSubstr("n80_d200"), HasSubstr("measured rms_yardstick"),
                                HasSubstr("the task is good")));
}

TEST_F(TaskCheckTest, ATaskWhoseToleranceTakesEverythingIsNot) {
  Make("loose_f32", kNorm);
  Replace("loose_f32/task.textproto", "  atol: ", "  atol: 1e9 # ");
  Replace("loose_f32/task.textproto", "  max_rms_error_ratio: ", "  max_rms_error_ratio: 1e9 # ");
  const CommandOutput output = Check("loose_f32");
  EXPECT_EQ(output.exit.code, 7) << output.out << output.err;
  EXPECT_THAT(output.out, AllOf(ContainsRegex("baseline .*passed on all 2"),
                                ContainsRegex("zeros .*PASSES on n40_d200"),
                                HasSubstr("the task is NOT good")));
}

TEST_F(TaskCheckTest, TasksThatCannotBeCheckedAreNamed) {
  const CommandOutput none = Check("nosuch_f32");
  EXPECT_EQ(none.exit.code, 3) << none.out << none.err;
  EXPECT_THAT(none.err, AllOf(HasSubstr("no task 'nosuch_f32'"), HasSubstr("--task-dir")));

  Make("faulty_f32", kNorm);
  const std::string elsewhere = cluster_->folder() + "/elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::copy(Tasks() + "/faulty_f32", elsewhere + "/faulty_f32");
  const CommandOutput other = Check(elsewhere + "/faulty_f32");
  EXPECT_EQ(other.exit.code, 3) << other.out << other.err;
  EXPECT_THAT(other.err, HasSubstr("is the one in " + Tasks()));

  std::ofstream(Tasks() + "/faulty_f32/reference.py") << "def run(x, weight, eps):\n    1 / 0\n";
  const CommandOutput faulty = Check("faulty_f32");
  EXPECT_EQ(faulty.exit.code, 3) << faulty.out << faulty.err;
  EXPECT_THAT(faulty.err, AllOf(HasSubstr("at fault"), HasSubstr("ZeroDivisionError")));

  std::filesystem::remove(Tasks() + "/faulty_f32/reference.py");
  const CommandOutput broken = Check("faulty_f32");
  EXPECT_EQ(broken.exit.code, 3) << broken.out << broken.err;
  EXPECT_THAT(broken.err, HasSubstr("no reference"));
}

}  // namespace
}  // namespace ksearch
