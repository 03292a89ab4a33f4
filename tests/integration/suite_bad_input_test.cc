// Unusable problems of suites beside a usable one: each is reported with its name and fault, and
// disturbs no other. With a real coordinator and a worker with a Python toolchain; skipped if
// /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

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

// KernelBench's form; @FORWARD@ and @INPUTS@ are what differs.
constexpr char kProblem[] = R"py(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        @FORWARD@


def get_inputs():
    @INPUTS@


def get_init_inputs():
    return []
)py";
constexpr char kForward[] = "return torch.cumsum(x, dim=1)";
constexpr char kInputs[] = "return [torch.rand(64, 96)]";

std::string Problem(const std::string& forward, const std::string& inputs) {
  return absl::StrReplaceAll(kProblem, {{"@FORWARD@", forward}, {"@INPUTS@", inputs}});
}

constexpr char kTextResult[] = R"py(import torch


def generate_input(n, seed):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed))


def ref_kernel(data):
    return "as long as this"


def check_implementation(data, output):
    return output == ref_kernel(data), ""
)py";
constexpr char kTask[] =
    "files:\n"
    "  - {\"name\": \"reference.py\", \"source\": \"reference.py\"}\n"
    "lang: \"py\"\n"
    "tests:\n"
    "  - {\"n\": 8, \"seed\": 1}\n";

struct Bad {
  const char* task;
  const char* file;
  std::string text;
  const char* reason;  // part of the message
};

std::vector<Bad> BadProblems() {
  return {
      {"kernelbench/l1/2", "KernelBench/level1/2_Syntax.py", "class Model(:\n", "SyntaxError"},
      {"kernelbench/l1/3", "KernelBench/level1/3_Import.py", "import nosuchmodule\n",
       "nosuchmodule"},
      {"kernelbench/l1/4", "KernelBench/level1/4_Names.py", "import torch\n",
       "the file defines no Model"},
      {"kernelbench/l1/5", "KernelBench/level1/5_Dtype.py",
       Problem(kForward, "return [torch.rand(8, 8).to(torch.complex64)]"),
       "input 'x' has dtype torch.complex64, which no task takes"},
      {"kernelbench/l1/6", "KernelBench/level1/6_Network.py",
       Problem(kForward,
               "import urllib.request; "
               "return [urllib.request.urlopen('http://192.0.2.1/weights', timeout=20).read()]"),
       "URLError"},
      {"kernelbench/l1/7", "KernelBench/level1/7_Output.py",
       Problem("return {'sum': float(x.sum())}", kInputs), "forward returns a dict, not tensors"},
      {"kernelbench/l1/8", "KernelBench/level1/8_Ends.py",
       Problem(kForward, "import os; os._exit(0)"), "ended without a description"},
      {"kernelbench/l1/9", "KernelBench/level1/9_Memory.py",
       Problem(kForward, "return [torch.zeros(1 << 36)]"), "RuntimeError"},
      {"kernelbench/l1/10", "KernelBench/level1/10_Random.py",
       Problem("return torch.rand_like(x)", kInputs),
       "changes from call to call (random numbers in forward); upstream seeds once"},
      {"kernelbench/l1/12", "KernelBench/level1/12_Dropout.py",
       absl::StrReplaceAll(Problem("return self.drop(x)", kInputs),
                           {{"    def forward",
                             "    def __init__(self):\n        super().__init__()\n"
                             "        self.drop = torch.nn.Dropout(0.2)\n\n    def forward"}}),
       "changes from call to call (dropout is live in 'drop')"},
      {"gpumode/text", "problems/set/text/reference.py", kTextResult, "ref_kernel returns"},
  };
}

class SuiteBadInputTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
    cluster_.UseOwnDevice();
    cluster_.AddToWorkerConfig(kPythonToolchain);
    for (const Bad& bad : BadProblems()) Write(bad.file, bad.text);
    Write("problems/set/text/task.yml", kTask);
    Write("problems/set/broken/task.yml", "lang: \"py\"\nfiles: [\n");
    Write("problems/set/several/task.yml", "lang: \"py\"\nmulti_gpu: true\nfiles: []\n");
    Write("KernelBench/level1/1_Good.py", Problem(kForward, kInputs));
    Write("KernelBench/level1/13_Prints.py",
          Problem(kForward, "print('x' * (1 << 23)); return [torch.rand(64, 96)]"));
    for (const char* same : {"14_A", "14_B"}) {
      Write(absl::StrCat("KernelBench/level1/", same, ".py"), Problem(kForward, kInputs));
    }
    Write("KernelBench/level1/15_Behind.py", Problem("return x * 2", kInputs));
    // 64 GiB of inputs, which are never made while it is described.
    Write("KernelBench/level1/11_Huge.py",
          Problem(kForward, "return [torch.rand(1 << 20, 1 << 14)]"));
    cluster_.StartCoordinator(absl::StrCat(
        "suites { kind: 'kernelbench' device: DEVICE_CLASS_CPU path: '", cluster_.folder(), "' }\n",
        "suites { kind: 'gpumode' device: DEVICE_CLASS_CPU path: '", cluster_.folder(), "' }"));
    cluster_.StartWorker("w1");
  }
  std::string Path(const std::string& name) { return absl::StrCat(cluster_.folder(), "/", name); }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  LocalCluster cluster_;
};

TEST_F(SuiteBadInputTest, IsToldByNameAndDisturbsNothing) {
  std::vector<std::string> words = {"task", "describe", "kernelbench/l1/1", "kernelbench/l1/11",
                                    "kernelbench/l1/13"};
  for (const Bad& bad : BadProblems()) words.emplace_back(bad.task);
  const CommandOutput described = cluster_.Cli(words, absl::Minutes(5));
  EXPECT_EQ(described.exit.code, 3) << described.out << described.err;
  EXPECT_THAT(described.out, AllOf(HasSubstr("kernelbench/l1/1: described"),
                                   HasSubstr("kernelbench/l1/11: described"),
                                   HasSubstr("kernelbench/l1/13: described")));
  for (const Bad& bad : BadProblems()) {
    const CommandOutput listed = cluster_.Cli({"task", "ls", bad.task});
    EXPECT_THAT(listed.out, AllOf(HasSubstr(bad.task), HasSubstr(bad.reason))) << listed.err;
    EXPECT_THAT(described.out, Not(HasSubstr(absl::StrCat(bad.task, ": described"))));
  }
  const CommandOutput list = cluster_.Cli({"task", "ls"});
  EXPECT_EQ(list.exit.code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("kernelbench/l1/1 "), HasSubstr("layernorm_f32"),
                              HasSubstr("broken/task.yml:"), HasSubstr("several GPUs")));

  // Neighbors with the same fault do not keep the next problem from being described.
  const CommandOutput rest = cluster_.Cli({"task", "describe", "--suite", "kernelbench"});
  EXPECT_EQ(rest.exit.code, 3) << rest.out << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("14_B.py has the same number"));
  EXPECT_THAT(rest.out, HasSubstr("kernelbench/l1/15: described"));
  const CommandOutput unknown = cluster_.Cli({"task", "ls", "--suite", "nosuch"});
  EXPECT_EQ(unknown.exit.code, 3) << unknown.out;
  EXPECT_THAT(unknown.err, HasSubstr("no suite 'nosuch'"));

  // By name: nothing is evaluated, and the message says why.
  Write("new.py", absl::StrReplaceAll(Problem(kForward, kInputs), {{"Model(", "ModelNew("}}));
  const CommandOutput refused =
      cluster_.Cli({"eval", "--task", "kernelbench/l1/5", "--check", Path("new.py")});
  EXPECT_NE(refused.exit.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("complex64"));
  const CommandOutput good =
      cluster_.Cli({"eval", "--task", "kernelbench/l1/1", "--check", Path("new.py")});
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;

  Write("other.py", "class Other:\n    pass\n");
  const CommandOutput formless =
      cluster_.Cli({"eval", "--task", "kernelbench/l1/1", "--check", Path("other.py")});
  EXPECT_NE(formless.exit.code, 0);
  EXPECT_THAT(
      formless.out + formless.err,
      AllOf(HasSubstr("defines no function 'run'"),
            HasSubstr("of the form ModelNew, in which a line begins with 'class ModelNew('")));

  // Only a device can tell what is too large for it; the list repeats the message.
  const CommandOutput huge =
      cluster_.Cli({"eval", "--task", "kernelbench/l1/11", "--check", Path("new.py")});
  EXPECT_NE(huge.exit.code, 0);
  EXPECT_THAT(huge.out + huge.err, HasSubstr("do not fit into this machine's"));
  EXPECT_THAT(cluster_.Cli({"task", "ls", "kernelbench/l1/11"}).out,
              HasSubstr("do not fit into this machine's"));
  const CommandOutput again =
      cluster_.Cli({"eval", "--task", "kernelbench/l1/1", "--check", "--repeat", Path("new.py")});
  EXPECT_EQ(again.exit.code, 0) << again.out << again.err;
}

}  // namespace
}  // namespace ksearch
