// Tasks whose own programs are in PyTorch, with the real programs. Skipped where /usr/bin/python3
// has no torch.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/access/client_access.h"
#include "common/grpc_channel.h"
#include "common/textproto.h"
#include "coordinator/tasks/directory_suite.h"
#include "proto/search_service.grpc.pb.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kSmall[] = "small_softmax_f32";

std::string ReadText(const std::string& path) { return ReadFile(path, 1 << 20).value(); }

// The first `most`; all with KSEARCH_PYTHON_TASKS=all (preset python).
template <typename T>
std::vector<T> Bounded(std::vector<T> all, size_t most) {
  const char* wanted = std::getenv("KSEARCH_PYTHON_TASKS");
  if ((wanted == nullptr || absl::string_view(wanted) != "all") && all.size() > most) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(most), all.end());
  }
  return all;
}

class PythonTasksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
    fs::create_directories(tasks_);
    cluster_.UseOwnDevice();
  }

  // A copy of a task's folder under the name `to`, its reference replaced.
  void CopyTask(const std::string& from, const std::string& to, const std::string& reference_py) {
    const std::string folder = absl::StrCat(tasks_, "/", to);
    fs::copy(from, folder, fs::copy_options::recursive);
    const std::string name = fs::path(from).filename().string();
    for (const char* file : {"/definition.json", "/workloads.jsonl"}) {
      const std::string text = ReadText(folder + file);
      std::ofstream(folder + file) << absl::StrReplaceAll(
          text, {{absl::StrCat("\"", name, "\""), absl::StrCat("\"", to, "\"")}});
    }
    fs::remove(folder + "/reference.cpp");
    std::ofstream(folder + "/reference.py") << reference_py;
  }
  void CopySmallTask(const std::string& to, const std::string& reference_py) {
    CopyTask(LocalCluster::SourcePath(absl::StrCat("tests/integration/data/tasks/", kSmall)), to,
             reference_py);
  }
  // A right program for the small task, in C++.
  static std::string SmallCandidate() {
    return LocalCluster::SourcePath(
        absl::StrCat("tests/integration/data/tasks/", kSmall, "/reference.cpp"));
  }
  // With tasks_ as the task folder, besides those that are built in.
  void Start() {
    cluster_.StartCoordinator("", tasks_);
    StartPythonWorker("w1");
  }
  void StartPythonWorker(const std::string& name) {
    cluster_.AddToWorkerConfig(kPythonToolchain);
    cluster_.StartWorker(name);
  }

  // The result of a file on these workloads; all of the task's if none is given.
  v1::JobResult Evaluate(v1::JobKind kind, const std::string& task_name, const std::string& path,
                         v1::Language language, const std::vector<std::string>& workloads = {}) {
    v1::EvaluateRequest request;
    request.set_task(task_name);
    request.set_kind(kind);
    request.mutable_sources()->set_language(language);
    v1::SourceFile* file = request.mutable_sources()->add_files();
    file->set_path(fs::path(path).filename().string());
    file->set_content(ReadText(path));
    for (const std::string& uuid : workloads.empty() ? Workloads(task_name) : workloads) {
      request.add_workload_uuids(uuid);
    }
    const auto stub = v1::SearchService::NewStub(MakeChannel(cluster_.address(), ClientAccess()));
    grpc::ClientContext context;
    const auto stream = stub->Evaluate(&context, request);
    v1::EvaluateReply reply;
    v1::JobResult result;
    while (stream->Read(&reply)) {
      if (reply.has_result()) result = reply.result();
    }
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return result;
  }
  std::vector<std::string> Workloads(const std::string& task_name) const {
    const auto suite =
        MakeDirectorySuite({tasks_, LocalCluster::SourcePath("configs/tasks")}).value();
    std::vector<std::string> uuids;
    const v1::Task task = suite->Load(task_name).value();
    for (const v1::Workload& workload : task.workloads()) uuids.push_back(workload.uuid());
    return uuids;
  }

  LocalCluster cluster_;
  const std::string tasks_ = cluster_.folder() + "/tasks/python";
};

// The shipped references in C++ and those of tests/tasks/torch, each as oracle of the other.
TEST_F(PythonTasksTest, ReferencesInTwoLanguagesAcceptEachOtherOnEveryWorkload) {
  const std::string in_torch = LocalCluster::SourcePath("tests/tasks/torch/");
  const std::string shipped = LocalCluster::SourcePath("configs/tasks/cpu/");
  const std::vector<std::string> names =
      Bounded(std::vector<std::string>{"gqa_paged_decode_f32", "softmax_rows_f32",
                                       "fused_add_rmsnorm_f32", "matmul_f32"},
              2);
  for (const std::string& name : names) {
    CopyTask(shipped + name, name + "_torch", ReadText(absl::StrCat(in_torch, name, ".py")));
    fs::copy(shipped + name, absl::StrCat(tasks_, "/", name), fs::copy_options::recursive);
  }
  Start();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto passes = [&](const std::string& task, const std::string& path,
                            v1::Language language) {
      const v1::JobResult result = Evaluate(v1::JOB_KIND_CHECK, task, path, language);
      EXPECT_EQ(v1::Outcome_Name(result.outcome()), "OUTCOME_PASSED") << result.message();
      EXPECT_EQ(static_cast<size_t>(result.workloads_size()), Workloads(task).size());
      for (const v1::WorkloadResult& workload : result.workloads()) {
        // Both round once, so they are closer to each other than any honest program in float32.
        EXPECT_LE(workload.correctness().rms_error_ratio(), 1) << workload.workload_uuid();
      }
    };
    passes(name, absl::StrCat(in_torch, name, ".py"), v1::LANGUAGE_PYTHON);
    passes(name + "_torch", shipped + name + "/reference.cpp", v1::LANGUAGE_CPP);
    EXPECT_EQ(v1::Outcome_Name(Evaluate(v1::JOB_KIND_CHECK, name + "_torch",
                                        LocalCluster::SourcePath(absl::StrCat(
                                            "tests/bad_candidates/cpu/", name, "/truncated.cpp")),
                                        v1::LANGUAGE_CPP)
                                   .outcome()),
              "OUTCOME_INCORRECT");
  }
}

// The example task judges candidates in both languages, and refuses what no task may accept.
TEST_F(PythonTasksTest, TheShippedTaskJudgesBothLanguages) {
  const std::string name = "layernorm_f32";
  const std::string folder = LocalCluster::SourcePath("configs/tasks/cpu_torch/" + name);
  fs::copy(folder, absl::StrCat(tasks_, "/", name), fs::copy_options::recursive);
  Start();
  EXPECT_THAT(cluster_.Cli({"tasks"}).out, HasSubstr("layernorm_f32  cpu     python"));
  const v1::JobResult timed =
      Evaluate(v1::JOB_KIND_SCREEN, name, folder + "/baseline.py", v1::LANGUAGE_PYTHON);
  EXPECT_EQ(v1::Outcome_Name(timed.outcome()), "OUTCOME_PASSED") << timed.message();
  for (const v1::WorkloadResult& workload : timed.workloads()) {
    EXPECT_GT(workload.candidate().median_us(), 0);
    EXPECT_GT(workload.baseline().median_us(), 0);
    EXPECT_LE(workload.correctness().rms_error_ratio(), 1) << workload.workload_uuid();
  }
  const std::string in_cpp = cluster_.folder() + "/kernel.cpp";
  std::ofstream(in_cpp) << R"(#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

// One element after the other, in float: the program that defines the yardstick.
extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t H = args->hidden_size;
  for (int64_t r = 0; r < args->rows; ++r) {
    const float* x = args->x + r * H;
    float sum = 0, squares = 0;
    for (int64_t h = 0; h < H; ++h) sum += x[h];
    const float mean = sum / static_cast<float>(H);
    for (int64_t h = 0; h < H; ++h) squares += (x[h] - mean) * (x[h] - mean);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(H) + 1e-5f);
    for (int64_t h = 0; h < H; ++h) {
      args->y[r * H + h] = (x[h] - mean) * scale * args->weight[h] + args->bias[h];
    }
  }
  return 0;
}
)";
  const v1::JobResult plain = Evaluate(v1::JOB_KIND_CHECK, name, in_cpp, v1::LANGUAGE_CPP);
  EXPECT_EQ(v1::Outcome_Name(plain.outcome()), "OUTCOME_PASSED") << plain.message();
  for (const v1::WorkloadResult& workload : plain.workloads()) {
    EXPECT_LE(workload.correctness().rms_error_ratio(), 3) << workload.workload_uuid();
  }
  const std::string cheats = LocalCluster::SourcePath("tests/bad_candidates/cpu/" + name + "/");
  for (const std::string& uuid : Bounded(Workloads(name), 1)) {
    for (const char* cheat : {"zeros", "copied_input", "truncated"}) {
      EXPECT_EQ(
          v1::Outcome_Name(Evaluate(v1::JOB_KIND_CHECK, name, absl::StrCat(cheats, cheat, ".cpp"),
                                    v1::LANGUAGE_CPP, {uuid})
                               .outcome()),
          "OUTCOME_INCORRECT")
          << cheat << " on " << uuid;
    }
    EXPECT_NE(v1::Outcome_Name(Evaluate(v1::JOB_KIND_SCREEN, name, cheats + "stale.cpp",
                                        v1::LANGUAGE_CPP, {uuid})
                                   .outcome()),
              "OUTCOME_PASSED")
        << uuid;
  }
}

TEST_F(PythonTasksTest, AFaultyReferenceEndsTheJobAtOnceInWordsThatSayWhatToDo) {
  struct Fault {
    const char* task;
    const char* reference;
    const char* says;
  };
  // One of each kind first: faults of its results, of its calls, of its text.
  const std::vector<Fault> all_faults = {
      {"wrong_shape", "def run(x):\n  return x.sum(dim=1)\n",
       "run in reference.py returned a tensor of shape (64,) and dtype torch.float32 for 'y': "
       "return one of shape (64, 256) and dtype torch.float32"},
      {"nan", "def run(x):\n  return x * float('nan')\n",
       "the reference fails on workload r64_c256: output 'y' holds a NaN"},
      {"raises", "def run(x):\n  raise ValueError('not today')\n", "ValueError: not today"},
      {"exits", "import sys\ndef run(x):\n  sys.exit('done')\n",
       "File \"reference.py\", line 3, in run"},
      {"no_run", "def walk(x):\n  return x\n",
       "defines no function 'run' at its top level: define run(inputs..., outputs...)"},
      {"syntax", "def run(x)\n  return x\n", "reference.py:1:"},
      {"wrong_dtype", "def run(x):\n  return x.double().softmax(dim=1)\n",
       "and dtype torch.float64 for 'y': return one of shape (64, 256) and dtype torch.float32"},
      {"too_many", "def run(x):\n  return x, x\n",
       "run in reference.py returned 2 values: return one tensor for each output, in this order: "
       "y"},
      {"list", "def run(x):\n  return [x.tolist()]\n",
       "returned a value of type list for 'y': return a tensor of shape (64, 256)"},
      {"nothing", "def run(x):\n  pass\n", "returned a value of type NoneType for 'y'"},
      {"exits_at_once", "import sys\nsys.exit(0)\ndef run(x):\n  return x\n", "SystemExit"},
      {"no_module", "import no_such_module\ndef run(x):\n  return x\n",
       "No module named 'no_such_module'"},
      {"parameters", "def run(x, scale, y, z):\n  pass\n",
       "run(x, scale, y, z) in reference.py takes neither x, y nor x alone"},
      {"no_function", "run = 3\n",
       "reference.py defines no function 'run': define run(inputs..., outputs...)"},
      {"changes_its_input", "def run(x, y):\n  y.copy_(x.softmax(dim=1))\n  x.zero_()\n",
       "the reference fails on workload r64_c256: input 'x'"},
      {"random", "import torch\ndef run(x):\n  return torch.rand_like(x)\n",
       "the reference fails on workload r64_c256: it disagrees with itself on equal inputs"},
  };
  const std::vector<Fault> faults = Bounded(all_faults, 6);
  for (const Fault& fault : faults) CopySmallTask(fault.task, fault.reference);
  Start();
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.task);
    const CommandOutput output =
        cluster_.Cli({"eval", "--task", fault.task, "--check", SmallCandidate()});
    EXPECT_EQ(output.exit.code, 3) << output.out << output.err;
    EXPECT_THAT(output.out, AllOf(HasSubstr("task_error"), HasSubstr("reference"),
                                  HasSubstr(fault.says), Not(HasSubstr("ksearch_runner.py"))));
  }
  EXPECT_THAT(cluster_.Log("coordinator"), Not(HasSubstr("how=returned")));
}

// By settings, one plain function is the float64 reference, the baseline, and makes the inputs.
TEST_F(PythonTasksTest, OneFileIsReferenceBaselineAndMakesTheInputs) {
  const std::string plain =
      "import torch\n"
      "def make_inputs(seed, rows, cols):\n"
      "  return [torch.rand(rows, cols, generator=torch.Generator().manual_seed(seed)) + 1]\n"
      "def run(x):\n  return x.softmax(dim=1)\n";
  for (const std::string word : {"torch", "torch.compile"}) {
    const std::string name = absl::StrCat("by_word", word.size());
    CopySmallTask(name, plain);
    const std::string folder = absl::StrCat(tasks_, "/", name);
    std::ofstream(folder + "/task.textproto", std::ios::app)
        << "baseline: \"" << word << "\" reference_precision: \"float64\"\n";
    const std::string workloads = ReadText(folder + "/workloads.jsonl");
    std::ofstream(folder + "/workloads.jsonl") << absl::StrReplaceAll(
        workloads, {{", \"offset\": 100.0", ""},
                    {"\"type\": \"random\"", "\"type\": \"random\", \"recipe\": \"make_inputs\""}});
  }
  const std::string candidate = cluster_.folder() + "/kernel.py";
  std::ofstream(candidate) << "import torch\ndef run(x):\n  assert float(x.min()) >= 1\n"
                              "  return torch.softmax(x, dim=1)\n";
  Start();
  const v1::JobResult eager =
      Evaluate(v1::JOB_KIND_SCREEN, "by_word5", candidate, v1::LANGUAGE_PYTHON);
  EXPECT_EQ(v1::Outcome_Name(eager.outcome()), "OUTCOME_PASSED") << eager.message();
  for (const v1::WorkloadResult& workload : eager.workloads()) {
    EXPECT_GT(workload.baseline().median_us(), 0);
    EXPECT_GT(workload.copy_us(), 0);
    EXPECT_LE(workload.correctness().rms_error_ratio(), 1) << workload.workload_uuid();
  }
  const v1::JobResult compiled =
      Evaluate(v1::JOB_KIND_SCREEN, "by_word13", candidate, v1::LANGUAGE_PYTHON);
  if (TorchHas("compile")) {
    EXPECT_EQ(v1::Outcome_Name(compiled.outcome()), "OUTCOME_PASSED") << compiled.message();
  } else {
    EXPECT_EQ(v1::Outcome_Name(compiled.outcome()), "OUTCOME_TASK_ERROR");
    EXPECT_THAT(compiled.message(),
                HasSubstr("baseline: \"torch.compile\" needs torch 2.0 or later"));
  }
}

// As for exceptions of candidates: the message may contain inputs.
TEST_F(PythonTasksTest, OfARivalOnlyTheKindOfExceptionIsTold) {
  CopySmallTask("healthy",
                ReadText(LocalCluster::SourcePath("tests/tasks/torch/softmax_rows_f32.py")));
  const std::string rival = cluster_.folder() + "/rival.py";
  std::ofstream(rival) << "def run(x):\n  raise ValueError(x.sum().item())\n";
  Start();
  const CommandOutput output =
      cluster_.Cli({"eval", "--task", "healthy", "--confirm", "--rival", rival, SmallCandidate()});
  EXPECT_THAT(output.out, AllOf(HasSubstr("the program raised ValueError at line 2"),
                                Not(HasSubstr("ValueError: "))));
}

TEST_F(PythonTasksTest, WorkersWithoutPythonGetNoSuchJobs) {
  CopySmallTask("slow", "import time\ndef run(x):\n  time.sleep(2)\n  return x.softmax(dim=1)\n");
  cluster_.StartCoordinator("", tasks_);
  cluster_.StartWorker("cpp_only");
  const CommandOutput refused =
      cluster_.Cli({"eval", "--task", "slow", "--check", SmallCandidate()});
  EXPECT_EQ(refused.exit.code, 3) << refused.out;
  EXPECT_THAT(
      refused.err,
      HasSubstr("no connected worker can judge cpp candidates and also run programs in python"));

  StartPythonWorker("with_python");
  CommandOutput evaluated;
  std::jthread client([&] {
    evaluated = cluster_.Cli({"eval", "--task", "slow", "--check", SmallCandidate()});
  });
  const auto jobs = [&] {
    const auto reply = FromJson<v1::ListJobsReply>(cluster_.Cli({"jobs", "--json"}).out);
    return std::vector<v1::JobSummary>(reply.jobs().begin(), reply.jobs().end());
  };
  const auto until = [](const std::function<bool()>& ready) {
    const absl::Time give_up = absl::Now() + absl::Minutes(2);
    while (!ready() && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(20));
    return ready();
  };
  EXPECT_TRUE(until([&] { return !jobs().empty() && !jobs()[0].worker_id().empty(); }));
  cluster_.Kill("with_python");
  cluster_.Kill("coordinator");
  cluster_.StartCoordinator("", tasks_);
  EXPECT_TRUE(until([&] {
    const auto reply = FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out);
    return std::any_of(reply.workers().begin(), reply.workers().end(),
                       [](const v1::WorkerStatus& worker) { return worker.connected(); });
  }));
  ASSERT_EQ(jobs().size(), 1u);
  EXPECT_EQ(jobs()[0].state(), v1::JobSummary::QUEUED);
  EXPECT_THAT(jobs()[0].note(),
              AllOf(HasSubstr("no connected worker can judge cpp candidates with"),
                    HasSubstr("and also run programs in python")));
  cluster_.StartWorker("another_with_python");
  EXPECT_TRUE(until([&] { return jobs().empty(); }));
  // It was asked before the coordinator was killed.
  client.join();
  EXPECT_EQ(evaluated.exit.code, 0) << evaluated.out << evaluated.err;
  EXPECT_EQ(cluster_.Cli({"eval", "--task", "slow", "--check", SmallCandidate()}).exit.code, 0);
}

}  // namespace
}  // namespace ksearch
