// Problems in the forms of other suites, from a folder of theirs to a verdict, with a real
// coordinator and a worker with a Python toolchain. Skipped where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kDefinition[] = R"json({
  "name": "segment_scale", "op_type": "segments", "description": "Scales each segment by its length.",
  "axes": {"n": {"type": "var"}, "len_indptr": {"type": "var"}},
  "inputs": {"x": {"shape": ["n"], "dtype": "float32"},
             "indptr": {"shape": ["len_indptr"], "dtype": "int32"}},
  "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
  "reference": "import torch\n\ndef run(x, indptr):\n    y = torch.empty_like(x)\n    for i in range(len(indptr) - 1):\n        a, b = int(indptr[i]), int(indptr[i + 1])\n        y[a:b] = x[a:b] * (b - a)\n    return y\n"
})json";

// The first two have their tensor; the file of the last is a pointer.
constexpr char kLines[] =
    R"({"definition": "segment_scale", "workload": {"uuid": "a", "axes": {"n": 600, "len_indptr": 3}, "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": "./blob/a.safetensors", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null}
{"definition": "segment_scale", "workload": {"uuid": "b", "axes": {"n": 600, "len_indptr": 3}, "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": "./blob/a.safetensors", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null}
{"definition": "segment_scale", "workload": {"uuid": "c", "axes": {"n": 600, "len_indptr": 3}, "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": "./blob/c.safetensors", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null}
)";

constexpr char kGood[] =
    "import torch\n\n"
    "def run(x, indptr, y):\n"
    "    lengths = torch.diff(indptr)\n"
    "    torch.mul(x, torch.repeat_interleave(lengths, lengths.long()), out=y)\n";
constexpr char kWrong[] =
    "import torch\n\n"
    "def run(x, indptr):\n"
    "    return x * 300\n";

// A problem in KernelBench's form, with parameters and a buffer that its calls change.
constexpr char kProblem[] = R"py(import torch
import torch.nn as nn


class Model(nn.Module):
    """A linear layer, normalized over the batch."""

    def __init__(self, features, hidden, slope):
        super().__init__()
        self.fc = nn.Linear(features, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.slope = slope

    def forward(self, x):
        return torch.nn.functional.leaky_relu(self.norm(self.fc(x)), self.slope)


def get_inputs():
    return [torch.rand(64, 96)]


def get_init_inputs():
    return [96, 48, 0.25]
)py";

constexpr char kSymmetric[] = R"py(import torch


class Model(torch.nn.Module):
    def forward(self, A):
        return A @ A


def get_inputs():
    A = torch.rand(64, 64)
    return [A + A.t()]


def get_init_inputs():
    return []
)py";

// Each answer is 0: a program passes that does nothing.
constexpr char kDegenerate[] = R"py(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x - 3)


def get_inputs():
    return [torch.rand(64, 64)]


def get_init_inputs():
    return []
)py";

// A program with the task's own entry.
constexpr char kSquare[] = "import torch\n\ndef run(A, out):\n    torch.mm(A, A, out=out)\n";

// As a model would write it: other operations, the same layers.
constexpr char kModelNew[] = R"py(import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, hidden, slope):
        super().__init__()
        self.fc = nn.Linear(features, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.slope = slope

    def forward(self, x):
        h = torch.addmm(self.fc.bias, x, self.fc.weight.t())
        variance, mean = torch.var_mean(h, dim=0, unbiased=False)
        h = (h - mean) * torch.rsqrt(variance + self.norm.eps)
        h = h * self.norm.weight + self.norm.bias
        return torch.where(h > 0, h, h * self.slope)
)py";

// Offsets 0, 200, 600.
std::string Blob() {
  const std::string header = R"({"indptr":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + std::string("\0\0\0\0\xc8\0\0\0\x58\x02\0\0", 12);
}

class SuitesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!HasTorch()) return;
    cluster_ = new LocalCluster();
    cluster_->UseOwnDevice();
    cluster_->AddToWorkerConfig(kPythonToolchain);
    Write("flashinfer/definitions/segments/segment_scale.json", kDefinition);
    Write("flashinfer/workloads/segments/segment_scale.jsonl", kLines);
    Write("flashinfer/blob/a.safetensors", Blob());
    Write("flashinfer/blob/c.safetensors", "version https://git-lfs.github.com/spec/v1\n");
    Write("KernelBench/level1/7_Linear_norm.py", kProblem);
    Write("KernelBench/level1/8_Symmetric.py", kSymmetric);
    Write("KernelBench/level1/9_Degenerate.py", kDegenerate);
    Write("KernelBench/level2/1_Broken.py", "import nosuch\n");
    cluster_->StartCoordinator(absl::StrCat(
        "suites { kind: 'flashinfer' device: DEVICE_CLASS_CPU path: '", Path("flashinfer"), "' }\n",
        "suites { kind: 'kernelbench' device: DEVICE_CLASS_CPU path: '", cluster_->folder(),
        "' }"));
    cluster_->StartWorker("w1");
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }
  void SetUp() override {
    if (cluster_ == nullptr) GTEST_SKIP() << kPython << " has no torch";
  }
  static std::string Path(const std::string& name) {
    return absl::StrCat(cluster_->folder(), "/", name);
  }
  static void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  static CommandOutput Check(const std::string& task, const std::string& file) {
    return cluster_->Cli({"eval", "--task", task, "--check", Path(file)});
  }

  static LocalCluster* cluster_;
};
LocalCluster* SuitesTest::cluster_ = nullptr;

TEST_F(SuitesTest, DataSetOfFlashInferBenchIsListedAndJudged) {
  const CommandOutput list = cluster_->Cli({"task", "ls", "--suite", "flashinfer"});
  EXPECT_EQ(list.exit.code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("flashinfer/segment_scale"), HasSubstr("left out"),
                              Not(HasSubstr("layernorm_f32"))));
  const CommandOutput all = cluster_->Cli({"tasks"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("flashinfer/segment_scale"), HasSubstr("layernorm_f32")));
  const CommandOutput one = cluster_->Cli({"task", "ls", "flashinfer/segment_scale"});
  EXPECT_THAT(one.out, AllOf(HasSubstr("workload c: indptr"), HasSubstr("git lfs pull")));

  Write("good.py", kGood);
  Write("wrong.py", kWrong);
  const CommandOutput good = Check("flashinfer/segment_scale", "good.py");
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  const CommandOutput wrong = Check("flashinfer/segment_scale", "wrong.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
}

TEST_F(SuitesTest, ProblemOfKernelBenchIsDescribedAndItsCandidatesJudgedUnchanged) {
  Write("model_new.py", kModelNew);
  const CommandOutput early = Check("kernelbench/l1/7", "model_new.py");
  EXPECT_NE(early.exit.code, 0);
  EXPECT_THAT(early.err, HasSubstr("ksearch task describe kernelbench/l1/7"));

  const CommandOutput described =
      cluster_->Cli({"task", "describe", "kernelbench/l1/7", "kernelbench/l1/8", "kernelbench/l1/9",
                     "kernelbench/l2/1"});
  EXPECT_EQ(described.exit.code, 3) << described.out << described.err;
  EXPECT_THAT(described.out, AllOf(HasSubstr("kernelbench/l1/7: described"),
                                   HasSubstr("kernelbench/l1/8: described"), HasSubstr("nosuch")));
  const CommandOutput list = cluster_->Cli({"task", "ls", "--suite", "kernelbench"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("Linear norm"), HasSubstr("l2"), HasSubstr("UNUSABLE: "),
                              HasSubstr("DEGENERATE: zeros and another input's answer pass")));

  const CommandOutput good = Check("kernelbench/l1/7", "model_new.py");
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  // Model itself, under the other name.
  Write("trivial.py", absl::StrReplaceAll(kProblem, {{"Model(nn", "ModelNew(nn"}}));
  const CommandOutput trivial = Check("kernelbench/l1/7", "trivial.py");
  EXPECT_EQ(trivial.exit.code, 0) << trivial.out << trivial.err;
  Write("slope.py", absl::StrReplaceAll(kModelNew, {{"h * self.slope", "h * 0.2"}}));
  const CommandOutput wrong = Check("kernelbench/l1/7", "slope.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
  Write("fewer.py",
        absl::StrReplaceAll(kModelNew, {{"(features, hidden)", "(features, hidden, bias=False)"}}));
  const CommandOutput fewer = Check("kernelbench/l1/7", "fewer.py");
  EXPECT_EQ(fewer.exit.code, 7) << fewer.out << fewer.err;

  // Its symmetric inputs are made by the problem itself.
  Write("square.py", kSquare);
  const CommandOutput timed =
      cluster_->Cli({"eval", "--task", "kernelbench/l1/8", Path("square.py")});
  EXPECT_EQ(timed.exit.code, 0) << timed.out << timed.err;

  const CommandOutput doctor = cluster_->Cli({"doctor"});
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("suite kernelbench: 1 tasks cannot be used"),
                                Not(HasSubstr("task kernelbench/"))));
  const CommandOutput check = cluster_->Cli({"task", "check", "kernelbench/l1/7"});
  EXPECT_EQ(check.exit.code, 3) << check.out;
  EXPECT_THAT(check.err, HasSubstr("belongs to the suite 'kernelbench'"));
}

}  // namespace
}  // namespace ksearch
