// Problems in the formats of other suites, from their folders to a verdict, with a real coordinator
// and a worker with a Python toolchain. Skipped if /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/textproto.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/python_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
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

// Its inputs are made, and its weights begin as the same numbers for every seed.
constexpr char kMadeNorm[] = R"py(import torch


class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = torch.nn.LayerNorm(n)
        self.turn = torch.nn.Parameter(torch.eye(n))

    def forward(self, A):
        return torch.where(A > 12, self.norm(A) + 1, self.norm(A)) @ self.turn


def get_inputs():
    A = torch.randn(32, 32)
    return [A + A.t()]


def get_init_inputs():
    return [32]
)py";
// Of which the test leaves one thing out at a time.
constexpr char kMadeNormNew[] = R"py(import torch


class ModelNew(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = torch.nn.LayerNorm(n)
        self.turn = torch.nn.Parameter(torch.eye(n))

    def forward(self, A):
        y = self.norm(A)
        y = torch.where(A > 12, y + 1, y)
        return y @ self.turn
)py";

// Neither fewer rows nor smaller extents do, and one of the random numbers has no extents at all.
constexpr char kAsGiven[] = R"py(import torch


class Model(torch.nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, A, B):
        if A.shape[0] != self.rows:
            raise ValueError("other rows than the model was made for")
        return A @ B


def get_inputs():
    scale = torch.rand(())
    return [torch.rand(96, 40) * scale, torch.rand(40, 24)]


def get_init_inputs():
    return [96]
)py";
constexpr char kAsGivenNew[] =
    "from torch import nn\n\nclass ModelNew(nn.Module):\n"
    "    def __init__(self, rows):\n        super().__init__()\n"
    "    def forward(self, A, B):\n        return (B.t() @ A.t()).t().contiguous()\n";

// A program with the task's own entry.
constexpr char kSquare[] = "import torch\n\ndef run(A, out):\n    torch.mm(A, A, out=out)\n";

// As upstream judges, in small: the same seed before both constructors, other inputs.
constexpr char kUpstream[] = R"py(import importlib.util, json, sys, torch

def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

problem, made = load(sys.argv[1], "problem"), load(sys.argv[2], "made")
torch.manual_seed(42)
model = problem.Model(*problem.get_init_inputs())
torch.manual_seed(42)
model_new = made.ModelNew(*problem.get_init_inputs())
with torch.no_grad():
    for seed in (1, 2, 3):
        torch.manual_seed(seed)
        inputs = problem.get_inputs()
        assert torch.allclose(model(*inputs), model_new(*inputs), atol=1e-4, rtol=1e-4)
results = json.load(open(sys.argv[3]))
assert all(one[0]["correctness"] and one[0]["runtime"] >= 0 for one in results.values()), results
print("right", sorted(results))
)py";

// A program as a model would write it: other operations, the same layers.
std::string ModelNew() {
  return ReadFile(LocalCluster::SourcePath("tests/integration/data/kernelbench/model_new.py"),
                  1 << 20)
      .value();
}

// Offsets 0, 200, 600.
std::string Blob() {
  const std::string header = R"({"indptr":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + std::string("\0\0\0\0\xc8\0\0\0\x58\x02\0\0", 12);
}

class SuitesTest : public PythonClusterTest {
 protected:
  static void SetUpTestSuite() {
    if (!MakeCluster()) return;
    Write("flashinfer/definitions/segments/segment_scale.json", kDefinition);
    Write("flashinfer/workloads/segments/segment_scale.jsonl", kLines);
    Write("flashinfer/blob/a.safetensors", Blob());
    Write("flashinfer/blob/c.safetensors", "version https://git-lfs.github.com/spec/v1\n");
    Write("KernelBench/level1/7_Linear_norm.py", kProblem);
    Write("KernelBench/level1/8_Symmetric.py", kSymmetric);
    Write("KernelBench/level1/9_Degenerate.py", kDegenerate);
    Write("KernelBench/level3/1_As_given.py", kAsGiven);
    Write("KernelBench/level3/2_Made_norm.py", kMadeNorm);
    Write("KernelBench/level2/1_Broken.py", "import nosuch\n");
    Write("KernelBench/level4/1_gpt2_bs1.py",
          "from transformers import AutoConfig\n\nconfig = AutoConfig.from_pretrained('gpt2')\n");
    cluster_->StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/kernelbench.cassette.textproto"));
    cluster_->StartCoordinator(absl::StrCat(
        "suites { kind: 'flashinfer' device: DEVICE_CLASS_CPU path: '", Path("flashinfer"), "' }\n",
        "suites { kind: 'kernelbench' device: DEVICE_CLASS_CPU path: '", cluster_->folder(),
        "' }"));
    cluster_->StartWorker("w1");
  }
  static CommandOutput Check(const std::string& task, const std::string& file) {
    return cluster_->Cli({"eval", "--task", task, "--check", Path(file)});
  }
};

TEST_F(SuitesTest, ProblemWhoseInputsCannotBeCutIsJudged) {
  Write("as_given_new.py", kAsGivenNew);
  const CommandOutput described = cluster_->Cli({"task", "describe", "kernelbench/l3/1"});
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  const CommandOutput right = Check("kernelbench/l3/1", "as_given_new.py");
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("passed"));
}

// No seed of the problem tells it from one that does all of the work.
TEST_F(SuitesTest, WhatNoSeedOfAMadeProblemShowsMayNotBeLeftOut) {
  const CommandOutput described = cluster_->Cli({"task", "describe", "kernelbench/l3/2"});
  ASSERT_EQ(described.exit.code, 0) << described.out << described.err;
  const auto confirm = [](const std::string& text) {
    Write("made_norm_new.py", text);
    return cluster_->Cli(
        {"eval", "--task", "kernelbench/l3/2", "--confirm", Path("made_norm_new.py")});
  };
  const CommandOutput right = confirm(kMadeNormNew);
  EXPECT_EQ(right.exit.code, 0) << right.out << right.err;
  for (const auto& [from, to] :
       {std::pair("self.norm(A)", "torch.nn.functional.layer_norm(A, A.shape[1:])"),
        std::pair("y @ self.turn", "y"), std::pair("y = torch.where(A > 12, y + 1, y)", "")}) {
    const CommandOutput less = confirm(absl::StrReplaceAll(kMadeNormNew, {{from, to}}));
    EXPECT_EQ(less.exit.code, 7) << less.out << less.err;
    EXPECT_THAT(less.out, HasSubstr("hidden case 'unusual inputs")) << from;
  }
}

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
  EXPECT_THAT(good.out, HasSubstr("the same in every call: indptr (a program could remember"));
  const CommandOutput wrong = Check("flashinfer/segment_scale", "wrong.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
}

TEST_F(SuitesTest, ProblemOfKernelBenchIsDescribedAndItsCandidatesJudgedUnchanged) {
  Write("model_new.py", ModelNew());
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
                              HasSubstr("DEGENERATE: what passes at tolerance 0.0001: zeros and "
                                        "another input's answer")));

  const CommandOutput good = Check("kernelbench/l1/7", "model_new.py");
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  // Model itself, under the other name.
  Write("trivial.py", absl::StrReplaceAll(kProblem, {{"Model(nn", "ModelNew(nn"}}));
  const CommandOutput trivial = Check("kernelbench/l1/7", "trivial.py");
  EXPECT_EQ(trivial.exit.code, 0) << trivial.out << trivial.err;
  Write("slope.py", absl::StrReplaceAll(ModelNew(), {{"h * self.slope", "h * 0.2"}}));
  const CommandOutput wrong = Check("kernelbench/l1/7", "slope.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
  Write("fewer.py", absl::StrReplaceAll(
                        ModelNew(), {{"(features, hidden)", "(features, hidden, bias=False)"}}));
  const CommandOutput fewer = Check("kernelbench/l1/7", "fewer.py");
  EXPECT_EQ(fewer.exit.code, 7) << fewer.out << fewer.err;

  // Its symmetric inputs are made by the problem itself.
  Write("square.py", kSquare);
  const CommandOutput timed =
      cluster_->Cli({"eval", "--task", "kernelbench/l1/8", Path("square.py")});
  EXPECT_EQ(timed.exit.code, 0) << timed.out << timed.err;
  EXPECT_THAT(timed.out,
              AllOf(HasSubstr("KernelBench's verdict correct (5 of 5 trials right on 1 workload)"),
                    HasSubstr("KernelBench's speed-up over eager, by means ")));
  EXPECT_EQ(cluster_->Cli({"eval", "--task", "kernelbench/l1/7", Path("model_new.py")}).exit.code,
            0);
  const CommandOutput report = cluster_->Cli({"report", "kernelbench", "--task", "l1"});
  EXPECT_EQ(report.exit.code, 0) << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("2 problems, 2 attempted, 2 correct"),
                                HasSubstr("fast_0 = 1.000 (2 of 2)"),
                                HasSubstr("left out: degenerate: what passes at tolerance")));
  const std::string runs = Path("runs/test");
  const CommandOutput exported =
      cluster_->Cli({"report", "kernelbench", "--task", "l1", "--out", runs});
  EXPECT_EQ(exported.exit.code, 0) << exported.err;
  for (const auto& [number, problem] :
       {std::pair("7", "7_Linear_norm.py"), std::pair("8", "8_Symmetric.py")}) {
    const CommandOutput judged =
        RunProgram({kPython, "-c", kUpstream, Path(absl::StrCat("KernelBench/level1/", problem)),
                    absl::StrCat(runs, "/level_1_problem_", number, "_sample_0_kernel.py"),
                    runs + "/eval_results.json"},
                   absl::Minutes(1));
    EXPECT_THAT(judged.out, HasSubstr("right ['7', '8']")) << judged.err;
  }
  EXPECT_NE(cluster_->Cli({"report", "kernelbench", "--task", "l1", "--out", runs}).exit.code, 0);
  EXPECT_EQ(cluster_->Cli({"report", "nosuch"}).exit.code, 3);

  // A run folder with several samples of a problem, of which the first is wrong.
  Write("samples/level_1_problem_7_sample_0_kernel.py",
        absl::StrReplaceAll(ModelNew(), {{"h * self.slope", "h * 0.2"}}));
  Write("samples/level_1_problem_7_sample_1_kernel.py", ModelNew());
  Write("samples/level_1_problem_7_sample_12_kernel.py", "class ModelNew(\n");
  Write("samples/level_1_problem_8_sample_0_kernel.py", kSquare);
  Write("samples/level_1_problem_9_sample_0_kernel.py", "left_out\n");
  Write("samples/notes.txt", "of the run\n");
  const std::string judged_samples = Path("runs/samples");
  const std::vector<std::string> words = {"report",        "kernelbench", "--run-folder",
                                          Path("samples"), "--out",       judged_samples};
  const CommandOutput samples = cluster_->Cli(words);
  EXPECT_EQ(samples.exit.code, 0) << samples.out << samples.err;
  EXPECT_THAT(samples.out,
              AllOf(ContainsRegex("kernelbench/l1/7 +0 +incorrect"),
                    ContainsRegex("kernelbench/l1/7 +1 +correct"),
                    ContainsRegex("kernelbench/l1/7 +12 +[a-z_]+ "),
                    ContainsRegex("kernelbench/l1/8 +0 +correct"),
                    ContainsRegex("kernelbench/l1/9 +- +left out: degenerate"),
                    HasSubstr("2 problems, 2 attempted, 1 correct\nfast_0 = 0.500 (1 of 2)"),
                    HasSubstr("2 problems, 2 attempted, 2 correct\nfast_0 = 1.000 (2 of 2)"),
                    HasSubstr("pass@1 = 0.667\n")));
  const absl::StatusOr<std::string> results =
      ReadFile(judged_samples + "/eval_results.json", 1 << 20);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(*results, AllOf(HasSubstr("\"sample_id\": 12"), HasSubstr("\"sample_id\": 1,")));
  EXPECT_EQ(*ReadFile(judged_samples + "/level_1_problem_7_sample_1_kernel.py", 1 << 20),
            ModelNew());
  EXPECT_THAT(*ReadFile(judged_samples + "/pass_at_k_results.json", 1 << 20),
              HasSubstr("\"total_correct_samples\": 2"));
  EXPECT_THAT(cluster_->Cli(words).err,
              HasSubstr("eval_results.json exists; choose another folder"));
  std::vector<std::string> forced = words;
  forced.push_back("--force");
  Write("samples/level_1_problem_70_sample_0_kernel.py", ModelNew());
  EXPECT_THAT(cluster_->Cli(forced).err, HasSubstr("there is no task kernelbench/l1/70"));
  Write("samples/level_1_problem_8_sample_1_kernel.py", "\xff\n");
  EXPECT_THAT(cluster_->Cli(forced).err,
              HasSubstr("level_1_problem_8_sample_1_kernel.py is not UTF-8 text: see byte 0 of 2"));

  Write("degenerate.py", absl::StrReplaceAll(kDegenerate, {{"Model(torch", "ModelNew(torch"}}));
  const CommandOutput degenerate =
      cluster_->Cli({"eval", "--task", "kernelbench/l1/9", Path("degenerate.py")});
  EXPECT_EQ(degenerate.exit.code, 0) << degenerate.err;
  EXPECT_THAT(degenerate.out, HasSubstr("warning: this task is degenerate, so its results claim "
                                        "nothing: what passes at tolerance"));
  // Whole models from the network.
  const CommandOutput hub = cluster_->Cli({"task", "describe", "kernelbench/l4/1"});
  EXPECT_EQ(hub.exit.code, 3);
  EXPECT_THAT(hub.out + hub.err,
              HasSubstr("loads a model from the Hugging Face hub (from_pretrained), and workers"));

  const CommandOutput doctor = cluster_->Cli({"doctor"});
  EXPECT_THAT(doctor.out,
              AllOf(HasSubstr("tasks cannot be used"), Not(HasSubstr("task kernelbench/"))));
  const CommandOutput check = cluster_->Cli({"task", "check", "kernelbench/l1/7"});
  EXPECT_EQ(check.exit.code, 3) << check.out;
  EXPECT_THAT(check.err, HasSubstr("belongs to the suite 'kernelbench'"));
}

TEST_F(SuitesTest, ASearchMayAnswerWithModelNew) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  ASSERT_THAT(cluster_->Cli({"task", "describe", "kernelbench/l1/7"}).out,
              HasSubstr("kernelbench/l1/7: described"));
  const CommandOutput run = cluster_->Cli(
      {"run", "--task", "kernelbench/l1/7", "--language", "python", "--rounds", "1", "--config",
       LocalCluster::SourcePath("tests/integration/data/steady_run.textproto")},
      absl::Minutes(5));
  const CommandOutput log = cluster_->Cli({"log", "last", "--json"});
  EXPECT_THAT(log.out, HasSubstr("CANDIDATE_PASSED")) << run.out << run.err;
  // It is kept as it was written, and the model was told that it may write so.
  const CommandOutput tree = cluster_->Cli({"--json", "tree", "last"});
  const size_t at = tree.out.find("\"candidate_id\"");
  ASSERT_NE(at, std::string::npos) << tree.out;
  const size_t begin = tree.out.find('"', tree.out.find(':', at)) + 1;
  const std::string candidate = tree.out.substr(begin, tree.out.find('"', begin) - begin);
  const CommandOutput shown = cluster_->Cli({"show", "last", candidate, "--calls"});
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("A program may be a `ModelNew`"),
                    HasSubstr("class ModelNew(nn.Module)"), Not(HasSubstr("_ksearch_entry"))));
}

}  // namespace
}  // namespace ksearch
