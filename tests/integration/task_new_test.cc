// `ksearch task new` with this machine's own Python and torch: folders that the coordinator
// accepts, and one clear line about everything that cannot become a task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/textproto.h"
#include "coordinator/tasks/task_folder.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class TaskNewTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch (Debian: python3-torch)";
    std::string pattern = "/tmp/ksearch-test-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path) << text;
    return path;
  }
  static CommandOutput New(const std::vector<std::string>& args) {
    std::vector<std::string> argv = {std::string(::getenv("KSEARCH_BIN_DIR")) + "/ksearch", "task",
                                     "new"};
    argv.insert(argv.end(), args.begin(), args.end());
    return RunProgram(argv, absl::Minutes(2));
  }
  // Makes and loads tasks/<name>.
  v1::Task Make(const std::string& name, const std::string& file, const std::string& shapes) {
    made_ = New({name, "--from-torch", file, "--shapes", shapes, "--interpreter", kPython,
                 "--output", folder_ + "/tasks"});
    EXPECT_EQ(made_.exit.code, 0) << made_.err;
    const absl::StatusOr<v1::Task> task = LoadTaskFolder(folder_ + "/tasks/" + name);
    EXPECT_TRUE(task.ok()) << task.status();
    return task.value_or(v1::Task());
  }
  // One line, code 3, and no folder.
  void Refuse(const std::string& text, const std::vector<std::string>& args,
              const testing::Matcher<std::string>& message, int code = 3) {
    const std::string file = Write("f.py", text);
    std::vector<std::string> all = {"bad", "--interpreter", kPython, "--output", folder_ + "/out"};
    all.insert(all.end(), args.begin(), args.end());
    if (std::find(args.begin(), args.end(), "--from-torch") == args.end()) {
      all.insert(all.end(), {"--from-torch", file});
    }
    const CommandOutput output = New(all);
    EXPECT_EQ(output.exit.code, code) << text << output.out << output.err;
    EXPECT_THAT(output.err, message) << text;
    EXPECT_EQ(output.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/out/bad")) << text;
    if (std::filesystem::exists(folder_ + "/out")) {
      EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/out")) << text;
    }
  }
  // A file that the script refuses: its text, what is asked for, and the message.
  struct Refused {
    std::string text;
    testing::Matcher<std::string> message;
    std::string shapes = "n=64,d=32";
    std::string dtype = "";
    std::string function = "";
  };
  // The script's message for each file, in one process: an import of torch takes seconds.
  void RefuseAll(const std::vector<Refused>& cases) {
    std::vector<std::string> argv = {kPython,
                                     "-I",
                                     "-B",
                                     "-c",
                                     R"(import json, runpy, sys
script = runpy.run_path(sys.argv[1], run_name="trace_task")
for i in range(2, len(sys.argv), 4):
    path, function, dtype, shapes = sys.argv[i : i + 4]
    try:
        message = "made " + json.dumps(script["trace"]("bad", path, function, dtype, [shapes]))
    except script["Refused"] as error:
        message = str(error)
    sys.__stdout__.write(message.replace("\n", " ") + "\n")
)",
                                     std::string(::getenv("KSEARCH_BIN_DIR")) + "/trace_task"};
    for (const Refused& refused : cases) {
      // Each in a folder of its own: files beside each other must not import one another.
      const std::string folder = absl::StrCat("case", argv.size());
      std::filesystem::create_directory(absl::StrCat(folder_, "/", folder));
      argv.insert(argv.end(), {Write(folder + "/f.py", refused.text), refused.function,
                               refused.dtype, refused.shapes});
    }
    const CommandOutput output = RunProgram(argv, absl::Minutes(5));
    EXPECT_EQ(output.exit.code, 0) << output.err;
    const std::vector<std::string> lines = absl::StrSplit(output.out, '\n', absl::SkipEmpty());
    ASSERT_EQ(lines.size(), cases.size()) << output.out << output.err;
    for (size_t i = 0; i < cases.size(); ++i) {
      EXPECT_THAT(lines[i], testing::Not(testing::StartsWith("made"))) << cases[i].text;
      EXPECT_THAT(lines[i], cases[i].message) << cases[i].text;
    }
  }
  static std::vector<std::string> Names(
      const google::protobuf::RepeatedPtrField<v1::TensorSpec>& tensors) {
    std::vector<std::string> names;
    for (const v1::TensorSpec& tensor : tensors) {
      names.push_back(absl::StrCat(tensor.name(), "[", absl::StrJoin(tensor.shape(), " "), "]",
                                   tensor.scalar() ? " scalar" : ""));
    }
    return names;
  }

  std::string folder_;
  CommandOutput made_;
};

std::string Only(const std::string& shapes, const std::string& function) {
  return absl::StrCat("import torch\nSHAPES = ", shapes, "\n", function);
}

TEST_F(TaskNewTest, AFunctionWithNamedShapesBecomesATask) {
  const std::string file = Write("ref.py", Only("{'x': 'n d', 'weight': 'd'}",
                                                R"(print("files may print")
def rms_norm(x, weight, eps: float = 1e-6, mode="mean"):
    """Root-mean-square normalization of rows."""
    scale = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    out = x * scale * weight
    return out
)"));
  const v1::Task task = Make("rms_f32", file + ":rms_norm", "n=64,256,d=1000");
  EXPECT_THAT(Names(task.definition().inputs()),
              ElementsAre("x[n d]", "weight[d]", "eps[] scalar"));
  EXPECT_THAT(Names(task.definition().outputs()), ElementsAre("out[n d]"));
  EXPECT_EQ(task.title(), "Root-mean-square normalization of rows.");
  EXPECT_THAT(task.definition().constraints(), ElementsAre("mode is always 'mean'"));
  EXPECT_EQ(task.device(), v1::DEVICE_CLASS_CPU);
  EXPECT_EQ(task.work().bytes(), "4 * n * d + 4 * d + 4 * n * d");
  EXPECT_GT(task.tolerance().rms_yardstick(), 4.8e-7);
  EXPECT_LT(task.tolerance().rms_yardstick(), 1e-6);

  std::vector<std::string> feedback, held_out;
  for (const v1::Workload& workload : task.workloads()) {
    (workload.held_out() ? held_out : feedback).push_back(workload.uuid());
  }
  EXPECT_THAT(feedback, ElementsAre("n64_d1000", "n256_d1000", "n65_d1001"));
  EXPECT_THAT(held_out, ElementsAre("n251_d997", "n255_d999", "n512_d1000"));
  EXPECT_THAT(made_.out, AllOf(HasSubstr("x[n, d] float32"), HasSubstr("n512_d1000 is added"),
                               HasSubstr("mode is always 'mean'"), HasSubstr("operations"),
                               HasSubstr("'eps' is its default 1e-06"),
                               HasSubstr("'x' is drawn again for every check, normal")));
  EXPECT_EQ(made_.err, "");
}

TEST_F(TaskNewTest, ThePythonFilesRunAndTheReferenceIsMoreExact) {
  const std::string file = Write(
      "ref.py", Only("{'x': 'n d'}", "def total(x):\n    return x.sum(dim=1), x.argmax(dim=1)\n"));
  const v1::Task task = Make("total_f32", file, "n=50,d=4001");
  EXPECT_THAT(Names(task.definition().outputs()), ElementsAre("output_0[n]", "output_1[n]"));
  EXPECT_EQ(task.definition().outputs(1).dtype(), v1::DTYPE_INT64);
  const CommandOutput output =
      RunProgram({kPython, "-c",
                  absl::StrCat("import sys; sys.path.insert(0, '", folder_,
                               "/tasks/total_f32')\n"
                               "import torch, reference, baseline\n"
                               "x = torch.randn(50, 4001)\n"
                               "exact = x.double().sum(dim=1)\n"
                               "a, i = reference.run(x)\n"
                               "b, j = baseline.run(x)\n"
                               "assert a.dtype == b.dtype == torch.float32\n"
                               "assert torch.equal(a, exact.float()) and torch.equal(i, j)\n"
                               "assert not torch.equal(a, b)\n")});
  EXPECT_EQ(output.exit.code, 0) << output.err;
}

TEST_F(TaskNewTest, InputsAreThoseOfMakeInputs) {
  const std::string file = Write("ref.py", R"(import torch

def make_inputs(seed, m, k):
    g = torch.Generator().manual_seed(seed)
    return {"a": torch.randn(m, k, generator=g), "gate": 3 + 0.5 * torch.randn(k, 2 * m, generator=g),
            "mask": torch.rand(m, generator=g) < 0.9, "scale": 1 / k, "shift": 3,
            "bias": torch.zeros(m)}

def glu(a, gate, mask, scale, shift, bias, causal=True):
    h = (a @ gate) * scale
    u, v = h.chunk(2, dim=-1)
    return torch.tanh(u) * v * mask[:, None] + shift + bias
)");
  const v1::Task task = Make("glu_f32", file, "m=40,k=512");
  EXPECT_THAT(Names(task.definition().inputs()),
              ElementsAre("a[m k]", "gate[k gate_dim1]", "mask[m]", "scale[] scalar",
                          "shift[] scalar", "bias[m]"));
  EXPECT_THAT(Names(task.definition().outputs()), ElementsAre("output[m m]"));
  for (const v1::Workload& workload : task.workloads()) {
    ASSERT_THAT(workload.axes(), SizeIs(3));
    EXPECT_EQ(workload.axes(2).value(), 2 * workload.axes(0).value());
    for (const int tensor : {0, 1, 2, 5}) EXPECT_TRUE(workload.inputs(tensor).has_made());
    EXPECT_EQ(workload.inputs(3).scalar().float_value(), 1.0 / workload.axes(1).value());
    EXPECT_EQ(workload.inputs(4).scalar().int_value(), 3);
  }
  EXPECT_THAT(task.references(0).files(0).content(), HasSubstr("def make_inputs(seed, m, k):"));
  EXPECT_THAT(made_.out,
              AllOf(HasSubstr("dimension 1 of 'gate' is 2 * m"),
                    HasSubstr("'bias' is the same for every seed"), HasSubstr("causal is always"),
                    HasSubstr("inputs are what make_inputs returns")));
}

TEST_F(TaskNewTest, TheFunctionServesAsItsBaselineByOneWord) {
  const std::string file = Write("ref.py", "def twice(x: 'n d'):\n    return x * 2\n");
  for (const std::string word : {"torch", "torch.compile"}) {
    const std::string name = absl::StrCat("t", word.size());
    const CommandOutput made =
        New({name, "--from-torch", file, "--shapes", "n=100,d=512", "--interpreter", kPython,
             "--output", folder_ + "/tasks", "--baseline", word});
    EXPECT_EQ(made.exit.code, 0) << made.err;
    EXPECT_FALSE(std::filesystem::exists(absl::StrCat(folder_, "/tasks/", name, "/baseline.py")));
    const std::string settings =
        ReadFile(absl::StrCat(folder_, "/tasks/", name, "/task.textproto"), 1 << 20).value();
    EXPECT_THAT(settings, AllOf(HasSubstr(absl::StrCat("baseline: \"", word, "\"")),
                                HasSubstr("reference_precision: \"float64\"")));
    const v1::Task task = LoadTaskFolder(absl::StrCat(folder_, "/tasks/", name)).value();
    EXPECT_THAT(task.baselines(0).files(0).content(),
                HasSubstr("def run(x):\n    return _ksearch_function(x=x)\n"));
  }
  Refuse("def twice(x: 'n d'):\n    return x * 2\n", {"--shapes", "n=8,d=8", "--baseline", "eager"},
         HasSubstr("--baseline"), 2);
}

TEST_F(TaskNewTest, SizesThatTheFunctionDoesNotTakeAreNotUsed) {
  const std::string file = Write("ref.py", R"(
def thirds(x: "n d", y: "n 3"):
    return x.reshape(x.shape[0], -1, 16).sum(dim=2), y + 1
)");
  const v1::Task task = Make("thirds_f32", file, "n=100,d=512");
  EXPECT_THAT(Names(task.definition().inputs()), ElementsAre("x[n d]", "y[n size_3]"));
  EXPECT_THAT(Names(task.definition().outputs()),
              ElementsAre("output_0[n output_0_dim1]", "output_1[n size_3]"));
  EXPECT_THAT(made_.out, HasSubstr("dimension 1 of 'output_0' is d / 16"));
  EXPECT_THAT(made_.out, HasSubstr("'d' = 513 is not accepted; 528 is used instead"));
  for (const v1::Workload& workload : task.workloads()) {
    EXPECT_EQ(workload.axes(1).value() % 16, 0) << workload.uuid();
  }
}

// In the place of torch's own counter, which not every torch has.
TEST_F(TaskNewTest, OperationsThatTorchCountsBecomeAFormula) {
  const std::string file = Write("ref.py", R"(import sys
import types

import torch

SHAPES = {"a": "m k", "b": "k n"}
counted = []


class FlopCounterMode:
    def __init__(self, display):
        pass

    def __enter__(self):
        counted.clear()
        return self

    def __exit__(self, *error):
        pass

    def get_total_flops(self):
        return sum(counted)


counter = types.ModuleType("torch.utils.flop_counter")
counter.FlopCounterMode = FlopCounterMode
sys.modules["torch.utils.flop_counter"] = counter


def product(a, b):
    counted.append(2 * a.shape[0] * a.shape[1] * b.shape[1])
    return a @ b
)");
  const v1::Task task = Make("product_f32", file + ":product", "m=100,k=512,n=70");
  EXPECT_EQ(task.work().flops(), "2 * m * k * n");
}

// Works for any user, and wherever the local pair keeps its state.
TEST_F(TaskNewTest, ForTheLocalCoordinatorNoFolderHasToBeKnown) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);  // as the worker of root's needs it
  const std::string file = Write("ref.py", "def f(x: 'n d'):\n    return x * 2\n");
  const std::string state = folder_ + "/state";
  std::vector<std::string> args = {
      "mine",          "--from-torch", file,      "--shapes",    "n=64,256,d=32",
      "--interpreter", kPython,        "--local", "--state-dir", state};
  const CommandOutput made = New(args);
  EXPECT_EQ(made.exit.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("next: ksearch task check --local mine\n"));
  EXPECT_TRUE(LoadTaskFolder(state + "/tasks/mine").ok());
  args.insert(args.end(), {"--output", folder_});
  const CommandOutput both = New(args);
  EXPECT_EQ(both.exit.code, 2);
  EXPECT_THAT(both.err, HasSubstr("leave out one of --output and --local"));
}

TEST_F(TaskNewTest, AnnotationsMayBeTextsOfTextsAndTypes) {
  const std::string file = Write("ref.py", R"(from __future__ import annotations
import torch

def scaled(x: "n d", weight: "d", by: float = 0.5, times: int = 2, mode: str = "mean"):
    return x * weight * by * times
)");
  const v1::Task task = Make("scaled_f32", file, "n=50,d=99");
  EXPECT_THAT(Names(task.definition().inputs()), ElementsAre("x[n d]", "weight[d]", "by[] scalar"));
}

TEST_F(TaskNewTest, AFunctionNamedRunStaysAsItIs) {
  const std::string text = "def run(x: 'n d'):\n    return x * 2\n";
  const std::string file = Write("ref.py", text);
  const v1::Task task = Make("twice_f32", file, "n=100,d=512");
  EXPECT_EQ(task.baselines(0).files(0).content(), text);
  EXPECT_THAT(task.references(0).files(0).content(), HasSubstr("_ksearch_function(x=x.double())"));
  const std::string tasks = std::filesystem::canonical(folder_).string() + "/tasks";
  EXPECT_THAT(made_.out, AllOf(HasSubstr("made " + tasks + "/twice_f32"),
                               HasSubstr("ksearch-coordinator --task-dir " + tasks + ",")));

  const auto changed = std::filesystem::last_write_time(tasks + "/twice_f32/baseline.py");
  const CommandOutput again = New({"twice_f32", "--from-torch", file, "--shapes", "n=7,d=9",
                                   "--interpreter", kPython, "--output", tasks});
  EXPECT_EQ(again.exit.code, 3);
  EXPECT_THAT(again.err, HasSubstr("tasks/twice_f32 exists"));
  EXPECT_EQ(std::filesystem::last_write_time(tasks + "/twice_f32/baseline.py"), changed);

  LocalCluster cluster;
  cluster.StartCoordinator("", tasks);
  const CommandOutput listed = cluster.Cli({"tasks"});
  EXPECT_EQ(listed.exit.code, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("twice_f32"), HasSubstr("python")));
}

TEST_F(TaskNewTest, ProgramsAreCalledByPositionWhateverTheFunctionTakes) {
  const std::string file = Write("ref.py", R"(import numpy as np

SHAPES = {"x": "n d", "by": np.float32(0.5)}


def run(x, *, by=2.0):
    return x * by
)");
  const CommandOutput made =
      New({"t", "--from-torch", file, "--shapes", "n=100,d=512", "--interpreter", kPython,
           "--output", folder_ + "/tasks", "--dtype", "bfloat16", "--json"});
  EXPECT_EQ(made.exit.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("\"task\""), HasSubstr("tasks/t\""), HasSubstr("assumed")));
  const v1::Task task = LoadTaskFolder(folder_ + "/tasks/t").value();
  EXPECT_EQ(task.definition().inputs(0).dtype(), v1::DTYPE_BFLOAT16);
  EXPECT_EQ(task.workloads(0).inputs(1).scalar().float_value(), 0.5);
  EXPECT_THAT(task.baselines(0).files(0).content(),
              HasSubstr("def run(x, by):\n    return _ksearch_function(x=x, by=by)"));
}

TEST_F(TaskNewTest, ATaskForGpusIsMadeOnProcessors) {
  const std::string file = Write("ref.py", "def twice(x: 'n d'):\n    return x * 2\n");
  const CommandOutput made =
      New({"g", "--from-torch", file, "--shapes", "n=100,d=512", "--interpreter", kPython,
           "--output", folder_ + "/tasks", "--device", "cuda"});
  EXPECT_EQ(made.exit.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("device=x.device"),
                              HasSubstr("a worker with a Python toolchain and a GPU,")));
  EXPECT_EQ(LoadTaskFolder(folder_ + "/tasks/g").value().device(), v1::DEVICE_CLASS_CUDA);
}

TEST_F(TaskNewTest, ArgumentsThatCannotBeMeantAreNamed) {
  const std::string good = "def twice(x: 'n d'):\n    return x * 2\n";
  const std::string file = Write("f.py", good);
  const std::vector<std::string> shapes = {"--shapes", "n=8,d=8"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), shapes.begin(), shapes.end());
    return more;
  };
  for (const char* name : {"a/b", "..", ".x", "a b", ""}) {
    const CommandOutput output = New({name, "--from-torch", file, "--shapes", "n=8,d=8"});
    EXPECT_EQ(output.exit.code, 2) << name;
    EXPECT_THAT(output.err, HasSubstr("letters, digits")) << name;
  }
  Refuse(good, {"--shapes", "n=x"}, HasSubstr("--shapes 'n=x'"));
  Refuse(good, with({"--device", "tpu"}), HasSubstr("--device"), 2);
  Refuse(good, with({"--from-torch", folder_ + "/none.py"}), HasSubstr("none.py"));
  Refuse(good, with({"--from-torch", folder_ + "/none"}), HasSubstr("must name a Python file"));
  Refuse(good, with({"--from-torch", file + ":"}), HasSubstr("name of the function is missing"));
  Refuse(good, with({"--from-torch", file + ":2x"}), HasSubstr("--from-torch: '2x'"));
  Refuse(good, with({"--from-torch", file + ":f(x)"}), HasSubstr("--from-torch: 'f(x)'"));
  const CommandOutput nothing =
      New({"bad", "--from-torch", file, "--shapes", "n=8,d=8", "--interpreter", "/nonexistent/p"});
  EXPECT_EQ(nothing.exit.code, 3);
  EXPECT_THAT(nothing.err, HasSubstr("--interpreter"));
}

TEST_F(TaskNewTest, APythonWithoutTorchIsNamed) {
  const std::string environment = folder_ + "/empty";
  ASSERT_EQ(RunProgram({kPython, "-m", "venv", "--without-pip", environment}).exit.code, 0);
  const CommandOutput output =
      New({"bad", "--from-torch", Write("f.py", "def f(x: 'n d'): return x\n"), "--shapes",
           "n=8,d=8", "--interpreter", environment + "/bin/python3", "--output", folder_});
  EXPECT_EQ(output.exit.code, 3);
  EXPECT_THAT(output.err, AllOf(HasSubstr("empty/bin/python3"), HasSubstr("torch"),
                                HasSubstr("--interpreter")));
}

TEST_F(TaskNewTest, FunctionsThatMakeNoTaskAreRefusedWithTheirLine) {
  const std::string good = "def twice(x: 'n d'):\n    return x * 2\n";
  RefuseAll({
      {good, AllOf(HasSubstr("'x'"), HasSubstr("dimension 'd'")), "n=8"},
      {good, HasSubstr("'e'"), "n=8,d=8,e=4"},
      {good, AllOf(HasSubstr("--dtype"), HasSubstr("float33")), "n=8,d=8", "float33"},
      {good, AllOf(HasSubstr("--dtype"), HasSubstr("float64")), "n=8,d=8", "float64"},
      {good, AllOf(HasSubstr("no function 'thrice'"), HasSubstr("twice")), "n=8,d=8", "", "thrice"},
      {"def f(*xs):\n    return xs[0]\n", AllOf(HasSubstr("f.py:1"), HasSubstr("'*xs'"))},
      {"def f(x: 'n d', **more):\n    return x\n", HasSubstr("'**more'")},
      {"\ndef f(x: 'n d', *, k):\n    return x\n",
       AllOf(HasSubstr("f.py:2"), HasSubstr("'k'"), HasSubstr("no default"))},
      {"def f(x):\n    return x\n", AllOf(HasSubstr("'x'"), HasSubstr("SHAPES"))},
      {"def f(x: 'n d'):\n    return x.tolist()\n", HasSubstr("result 0 is list")},
      {"def f(x: 'n d'):\n    return {'y': x}\n", HasSubstr("result 0 is dict")},
      {"def f(x: 'n d'):\n    return None\n", HasSubstr("NoneType")},
      {"def f(x: 'n d'):\n    return x[x > 0]\n", HasSubstr("depends on the values")},
      {"def f(x: 'n d'):\n    return x.mul_(2)\n", HasSubstr("changes its argument 'x'")},
      {"def f(x: 'n d'):\n    return x.double()\n", HasSubstr("unknown dtype 'float64'")},
      {"def f(x: 'n d'):\n    return x.log()\n", HasSubstr("not finite")},
      {"def f(x: 'n d'):\n    return x + 1\ndef g(x: 'n d'):\n    return x\n",
       AllOf(HasSubstr("say which function"), HasSubstr("f, g"))},
      {"def f(x: 'n d'):\n    raise ValueError('no luck')\n",
       AllOf(HasSubstr("f.py:2"), HasSubstr("n=64, d=32"), HasSubstr("no luck"))},
      {"def f(x: 'n d'):\n    return x @ x\n", AllOf(HasSubstr("f.py:2"), HasSubstr("n=64, d=32"))},
      {"import sys\nsys.exit(0)\n", AllOf(HasSubstr("f.py:2"), HasSubstr("SystemExit"))},
      {"def f(x: 'n d'\n    return x\n", AllOf(HasSubstr("f.py:1"), HasSubstr("SyntaxError"))},
      {"import nosuchmodule\n", AllOf(HasSubstr("f.py:1"), HasSubstr("nosuchmodule"))},
      {"import torch\ndef f(x: 'n d'):\n    return torch.dropout(x, 0.5, True)\n",
       HasSubstr("differs from call to call")},
      {"class F:\n    pass\n", HasSubstr("defines none")},
      {"def run():\n    pass\ndef f(x: 'n d'):\n    return x\n", HasSubstr("say which function")},
      {"def make_inputs(seed, n, d):\n    return ['text']\ndef f(x):\n    return x\n",
       AllOf(HasSubstr("make_inputs: 'x'"), HasSubstr("type str"))},
      {"def make_inputs(seed, n):\n    return []\ndef f(x):\n    return x\n",
       AllOf(HasSubstr("make_inputs"), HasSubstr("'d'"))},
      {"def make_inputs(seed, n, d):\n    return 1 / 0\ndef f(x):\n    return x\n",
       AllOf(HasSubstr("f.py:2"), HasSubstr("ZeroDivisionError"))},
      {"import torch\ndef make_inputs(seed, n, d):\n    return [torch.ones(n, d)]\n"
       "def f(x):\n    return x\n",
       AllOf(HasSubstr("f.py:2: make_inputs"), HasSubstr("the same tensors for every seed"))},
      {"import torch, os\ndef make_inputs(seed, n, d):\n"
       "    return [torch.full((n, d), float(int.from_bytes(os.urandom(3), 'big')))]\ndef f(x):\n  "
       "  return x\n",
       HasSubstr("other tensors for the same seed")},
      {"import torch\ndef make_inputs(seed, n, d):\n    return [torch.randn(n, d), 2]\n"
       "def f(x, by):\n    return x * by\n",
       HasSubstr("numbers in a list: return a dict")},
      {"import torch\ndef make_inputs(seed, n, d):\n    return [torch.randn(n + seed, d)]\n"
       "def f(x):\n    return x\n",
       HasSubstr("neither may depend on the seed")},
      {"SHAPES = {'z': 'n'}\ndef f(x: 'n d'):\n    return x\n", HasSubstr("SHAPES names 'z'")},
      {"import torch\ndef f(x: 'n d'):\n    return x @ torch.ones(x.shape[1], 3)\n",
       AllOf(HasSubstr("f.py:3"), HasSubstr("float64"))},
  });
}

TEST_F(TaskNewTest, RandomValuesOfTheImportAreRefused) {
  const std::string depends = "depends on random values that are drawn when the file is imported";
  RefuseAll({
      {"import torch\nw = torch.randn(32)\ndef f(x: 'n d'):\n    return x * w\n",
       AllOf(HasSubstr("f.py:3"), HasSubstr(depends))},
      {"import random\nw = random.random()\ndef f(x: 'n d'):\n    return x * w\n",
       HasSubstr(depends)},
      {"import numpy\nw = float(numpy.random.rand())\ndef f(x: 'n d'):\n    return x * w\n",
       HasSubstr(depends)},
      // This file sets its own seed and is fine; its axis 'e' is wrong.
      {"import torch\ntorch.manual_seed(0)\nw = torch.randn(2)[0]\n"
       "def f(x: 'n d'):\n    return x * w\n",
       HasSubstr("is 'e'"), "n=8,d=8,e=4"},
  });
}

TEST_F(TaskNewTest, NumbersThatATaskCannotHoldAreRefusedByName) {
  const auto made = [](const std::string& number) {
    return absl::StrCat(
        "import torch\ndef make_inputs(seed, n, d):\n    return {'x': "
        "torch.randn(n, d), 'by': ",
        number, "}\ndef f(x, by):\n    return x * by\n");
  };
  RefuseAll({
      {made("float('inf')"), HasSubstr("make_inputs: 'by' is inf")},
      {made("float('nan')"), HasSubstr("make_inputs: 'by' is nan")},
      {made("1e300"), HasSubstr("make_inputs: 'by' is 1e+300")},
      {made("1 << 63"), HasSubstr("make_inputs: 'by' is 9223372036854775808")},
      {made("1j"), HasSubstr("'by' is of type complex")},
      {made("torch.full((n, d), float('inf'))"), HasSubstr("values for 'by' that are infinite")},
      {"SHAPES = {'x': 'n d', 'by': float('inf')}\ndef f(x, by):\n    return x * by\n",
       HasSubstr("SHAPES of 'by' is inf")},
      {"def f(x: 'n d', by: float = float('inf')):\n    return x * by\n",
       HasSubstr("default of 'by' is inf")},
      {"def f(x: 'n 99999999999999999999'):\n    return x\n",
       HasSubstr("'x' has the dimension 99999999999999999999")},
  });
}

TEST_F(TaskNewTest, FilesThatEndTheirProcessAreRefused) {
  const std::vector<std::string> shapes = {"--shapes", "n=64,d=32"};
  Refuse("import os\ndef f(x: 'n d'):\n    os._exit(0)\n", shapes, HasSubstr("without an answer"));
  Refuse("import os\ndef f(x: 'n d'):\n    os.abort()\n", shapes, HasSubstr("signal 6"));
  Refuse("def f(int: 'n d'):\n    return int * 2\n", shapes, HasSubstr("keyword of C++"));
}

TEST_F(TaskNewTest, AFileThatImportsItsNeighborIsRefused) {
  Write("neighbor.py", "TWO = 2\n");
  Refuse("import neighbor\ndef f(x: 'n d'):\n    return x * neighbor.TWO\n",
         {"--shapes", "n=8,d=8"}, AllOf(HasSubstr("neighbor"), HasSubstr("one file")));
}

}  // namespace
}  // namespace ksearch
