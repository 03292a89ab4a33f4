// Forms of problems that the suites' own checkouts do not have, and what they share with all
// others: a program that does what the reference does is no faster than the baseline. With a real
// coordinator and a worker with a Python toolchain; skipped if /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/integration/python_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kTask[] = R"(files:
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
tests:
  - {"n": 1000@SEED@}
benchmarks:
  - {"n": 65536@SEED@}
)";
constexpr char kReference[] = R"py(import torch


def generate_input(n, seed=1):
    x = torch.randn(n, device="cuda", generator=torch.Generator(device="cuda").manual_seed(seed))
    return @DATA@


def ref_kernel(data):
    @ANSWER@


def check_implementation(data, output):
    x = data[0]
    return torch.allclose(@RESULT@, torch.tanh(x)), ""
)py";
constexpr char kModel[] = R"py(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        @FORWARD@


def get_inputs():
    return [torch.randn(512, 256)]


def get_init_inputs():
    return []
)py";

class SuiteFormsTest : public PythonClusterTest {
 protected:
  static void SetUpTestSuite() {
    if (!MakeCluster()) return;
    WriteGpuMode("returned", ", \"seed\": 3", "(x,)", "return torch.tanh(data[0])", "output");
    WriteGpuMode("default_seed", "", "(x,)", "return torch.tanh(data[0])", "output");
    WriteGpuMode("returns_nothing", ", \"seed\": 3", "(x, torch.empty_like(x))",
                 "data[1].copy_(torch.tanh(data[0]))", "data[1]");
    WriteGpuMode("other_shapes", ", \"seed\": 3", "(x,)", "return torch.tanh(data[0][data[0] > 0])",
                 "output");
    WriteGpuMode("sparse", ", \"seed\": 3", "(x, x.to_sparse())", "return torch.tanh(data[0])",
                 "output");
    Write("tanh.py",
          "import torch\n\n\ndef custom_kernel(data):\n    return torch.tanh(data[0])\n");
    WriteModel("1_Plain", "return torch.tanh(x)");
    WriteModel("2_Writes", "return x.mul_(2).sum(dim=1)");
    WriteModel("3_Types", "return torch.tanh(x).half(), x.argmax(dim=1)");
    WriteModel("4_Counts", "self.n = getattr(self, 'n', 0) + 1; return x * self.n");
    cluster_->StartCoordinator(absl::StrCat(
        "suites { kind: 'kernelbench' device: DEVICE_CLASS_CPU path: '", cluster_->folder(),
        "' }\nsuites { kind: 'gpumode' device: DEVICE_CLASS_CPU path: '", cluster_->folder(),
        "' }"));
    cluster_->StartWorker("w1");
  }
  static void WriteGpuMode(const std::string& name, const std::string& seed,
                           const std::string& data, const std::string& answer,
                           const std::string& result) {
    const std::string folder = absl::StrCat("problems/set/", name, "/");
    Write(absl::StrCat(folder, "task.yml"), absl::StrReplaceAll(kTask, {{"@SEED@", seed}}));
    Write(absl::StrCat(folder, "reference.py"),
          absl::StrReplaceAll(kReference,
                              {{"@DATA@", data}, {"@ANSWER@", answer}, {"@RESULT@", result}}));
  }
  static void WriteModel(const std::string& name, const std::string& forward) {
    const std::string text = absl::StrReplaceAll(kModel, {{"@FORWARD@", forward}});
    Write(absl::StrCat("KernelBench/level1/", name, ".py"), text);
    Write(absl::StrCat(name, "_new.py"), absl::StrReplaceAll(text, {{"Model(", "ModelNew("}}));
  }

  static void Describe(const std::string& task) {
    const CommandOutput described = cluster_->Cli({"task", "describe", task}, absl::Minutes(2));
    ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  }
  static CommandOutput Judge(const std::string& task, const std::string& file, const char* how) {
    return cluster_->Cli({"eval", "--task", task, Path(file), how}, absl::Minutes(3));
  }
};

TEST_F(SuiteFormsTest, ACopyOfTheReferenceIsNoFasterThanTheBaseline) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "nothing is timed under sanitizers";
#endif
  Describe("gpumode/returned");
  const CommandOutput submission = Judge("gpumode/returned", "tanh.py", "--confirm");
  EXPECT_THAT(submission.out, AllOf(HasSubstr("passed"), Not(HasSubstr("improved"))))
      << submission.err;
  Describe("kernelbench/l1/1");
  const CommandOutput model = Judge("kernelbench/l1/1", "1_Plain_new.py", "--confirm");
  EXPECT_THAT(model.out, AllOf(HasSubstr("passed"), Not(HasSubstr("improved")))) << model.err;
}

TEST_F(SuiteFormsTest, FunctionsThatReturnNothingWriteIntoData) {
  Describe("gpumode/returns_nothing");
  Write("writes.py", "def custom_kernel(data):\n    x, out = data\n    out.copy_(x.tanh())\n");
  const CommandOutput right = Judge("gpumode/returns_nothing", "writes.py", "--check");
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
  Write("returns.py", "def custom_kernel(data):\n    return data[0].tanh()\n");
  const CommandOutput wrong = Judge("gpumode/returns_nothing", "returns.py", "--check");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
}

TEST_F(SuiteFormsTest, SeedsAreGivenWhereOnlyTheFunctionHasOne) {
  Describe("gpumode/default_seed");
  const CommandOutput right = Judge("gpumode/default_seed", "tanh.py", "--check");
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, Not(HasSubstr("the same in every call")));
}

TEST_F(SuiteFormsTest, ModelsMayWriteIntoTheirInputsAndReturnOtherTypes) {
  Describe("kernelbench/l1/2");
  Write("sums.py", "def run(x):\n    return (x * 2).sum(dim=1)\n");
  const CommandOutput sums = Judge("kernelbench/l1/2", "sums.py", "--check");
  EXPECT_EQ(sums.exit.code, 0) << sums.out << sums.err;
  Describe("kernelbench/l1/3");
  const CommandOutput types = Judge("kernelbench/l1/3", "3_Types_new.py", "--check");
  EXPECT_EQ(types.exit.code, 0) << types.out << types.err;
}

TEST_F(SuiteFormsTest, WhatNoTaskCanBeIsToldWhenItIsDescribed) {
  const CommandOutput described = cluster_->Cli(
      {"task", "describe", "gpumode/other_shapes", "gpumode/sparse", "kernelbench/l1/4"},
      absl::Minutes(3));
  EXPECT_EQ(described.exit.code, 3) << described.out << described.err;
  EXPECT_THAT(described.out,
              AllOf(HasSubstr("ref_kernel returns results of other shapes for another seed"),
                    HasSubstr("is a sparse or quantized tensor"),
                    HasSubstr("by what it keeps beside its parameters and buffers")));
}

}  // namespace
}  // namespace ksearch
