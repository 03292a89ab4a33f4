// Python programs under the real sandbox and its tight filter, judged like any other. Skipped where
// /usr/bin/python3 has no torch (deploy/install_deps.sh --with-python installs it).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/textproto.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/python_programs.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kWrites[] = "import torch\ndef run(a, b, c):\n  torch.mm(a, b, out=c)\n";
constexpr char kReturns[] = "def run(a, b):\n  return a @ b\n";

class PythonProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
    programs_ = std::make_unique<PythonPrograms>();
  }
  v1::Artifact Python(const std::string& text) { return programs_->Program(text); }
  v1::VerifierRequest Request(v1::JobKind kind, const std::string& text) {
    return programs_->Request(kind, text);
  }
  // A CHECK of `text` against itself on workload "w" of another task.
  v1::VerifierRequest RequestOf(const v1::Task& task, const std::string& text) {
    v1::VerifierRequest request = Request(v1::JOB_KIND_CHECK, text);
    *request.mutable_task() = task;
    request.set_task_sha256(TaskDigest(task));
    request.mutable_job()->clear_workload_uuids();
    request.mutable_job()->add_workload_uuids("w");
    *request.mutable_reference() = Python(text);
    return request;
  }
  v1::Verdict Verify(const v1::VerifierRequest& request) { return programs_->Verify(request); }
  v1::Verdict Check(const std::string& text) { return Verify(Request(v1::JOB_KIND_CHECK, text)); }

 private:
  std::unique_ptr<PythonPrograms> programs_;
};

TEST_F(PythonProgramTest, BothFormsOfTheEntryPassAndAreTimed) {
  for (const char* text : {kWrites, kReturns}) {
    const v1::Verdict verdict = Verify(Request(v1::JOB_KIND_SCREEN, text));
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << text << verdict.message();
    EXPECT_THAT(verdict.suspicions(), IsEmpty());
    EXPECT_EQ(verdict.isolation().backend(), "bubblewrap");
    EXPECT_TRUE(verdict.isolation().tight_seccomp());
    ASSERT_EQ(verdict.workloads_size(), 2);
    EXPECT_GT(verdict.workloads(0).candidate().median_us(), 0);
    EXPECT_GT(verdict.workloads(0).baseline().median_us(), 0);
    for (const v1::WorkloadResult& workload : verdict.workloads()) {
      if (text == kWrites) {
        EXPECT_EQ(workload.copy_us(), 0);
      } else {
        EXPECT_GT(workload.copy_us(), 0);
      }
    }
  }
}

// torch.use_deterministic_algorithms of torch 2 makes this folder, the name of which is the user's.
TEST_F(PythonProgramTest, FolderForDeterministicAlgorithmsIsThere) {
  const v1::Verdict verdict = Check(R"(
import getpass, os, tempfile, torch
def run(a, b):
  os.makedirs(os.path.join(tempfile.gettempdir(), f"torchinductor_{getpass.getuser()}"), exist_ok=True)
  torch.use_deterministic_algorithms(True)
  try:
    return a @ b
  finally:
    torch.use_deterministic_algorithms(False)
)");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
}

TEST_F(PythonProgramTest, TrustedProgramsMayBeInAnotherLanguageThanTheCandidate) {
  v1::VerifierRequest request = ScreenRequest("honest");
  *request.mutable_reference() = Python(kReturns);
  *request.mutable_baseline() = Python(kWrites);
  const v1::Verdict verdict = Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  *request.mutable_reference() = Python("def run(a, b):\n  raise ValueError('not today')\n");
  const v1::Verdict broken = Verify(request);
  EXPECT_EQ(broken.outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_THAT(broken.message(), HasSubstr("the reference fails on workload medium: "));
  EXPECT_THAT(broken.message(), HasSubstr("line 2, in run"));
  EXPECT_THAT(broken.message(), HasSubstr("ValueError: not today"));
}

// A rival is an earlier candidate, so its messages may contain inputs.
TEST_F(PythonProgramTest, WordsOfTheTasksOwnProgramsAreToldAndThoseOfARivalAreNot) {
  v1::VerifierRequest request = ConfirmRequest("honest", "honest");
  *request.mutable_rivals(0) = Python("def run(a, b):\n  return (a @ b).double()\n");
  const v1::Verdict baseline = Verify(request);
  EXPECT_EQ(baseline.outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_EQ(baseline.at_fault(), "task");
  EXPECT_THAT(baseline.message(),
              HasSubstr("run in program.py returned a tensor of shape (96, 80) and dtype "
                        "torch.float64 for 'c': return one of shape (96, 80) and dtype "
                        "torch.float32"));
  request.mutable_job()->mutable_rivals(0)->set_rival_id("incumbent");
  request.mutable_job()->mutable_rivals(0)->mutable_sources()->set_language(v1::LANGUAGE_PYTHON);
  const v1::Verdict rival = Verify(request);
  EXPECT_EQ(rival.outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_EQ(rival.at_fault(), "incumbent");
  EXPECT_THAT(rival.message(), HasSubstr("the program returned a tensor of another dtype"));
  EXPECT_THAT(rival.message(), ::testing::Not(HasSubstr("float64")));
}

TEST_F(PythonProgramTest, FailuresToLoadAreToldInTheProgramsOwnWordsAndOthersByKindAndLine) {
  const struct {
    const char* text;
    v1::Outcome outcome;
    const char* says;
  } cases[] = {
      {"import no_such_module\n", v1::OUTCOME_LOAD_ERROR, "No module named 'no_such_module'"},
      {"def run(a, b)\n", v1::OUTCOME_LOAD_ERROR, "SyntaxError"},
      {"def walk(a, b, c):\n  pass\n", v1::OUTCOME_LOAD_ERROR, "defines no function 'run'"},
      {"import os\nos._exit(3)\n", v1::OUTCOME_LOAD_ERROR, "exited with status 3"},
      {"def run(a):\n  return a\n", v1::OUTCOME_RUNTIME_ERROR, "takes other arguments"},
      {"def run(a, b, c):\n  c[0, 0] = a[10**6, 0]\n", v1::OUTCOME_RUNTIME_ERROR,
       "IndexError at line 2"},
      {"import sys\ndef run(a, b, c):\n  sys.exit(0)\n", v1::OUTCOME_RUNTIME_ERROR, "SystemExit"},
      {"def run(a, b):\n  return (a @ b).double()\n", v1::OUTCOME_RUNTIME_ERROR,
       "of another dtype"},
      {"def run(a, b):\n  return (a @ b)[1:]\n", v1::OUTCOME_RUNTIME_ERROR, "of another shape"},
      {"def run(a, b):\n  return None\n", v1::OUTCOME_RUNTIME_ERROR, "of another kind"},
      {"def run(a, b):\n  return a @ b, a\n", v1::OUTCOME_RUNTIME_ERROR,
       "another number of values"},
      {"def run(a, b):\n  return a @ b + 1\n", v1::OUTCOME_INCORRECT, "'c'"},
      {"import os\ndef run(a, b, c):\n  os.fork()\n", v1::OUTCOME_RUNTIME_ERROR,
       "OSError at line 3"},
      {"import subprocess\nsubprocess.run(['/bin/true'])\n", v1::OUTCOME_LOAD_ERROR,
       "Function not implemented"},
      {"open('/tmp/kept', 'w')\n", v1::OUTCOME_LOAD_ERROR, "Function not implemented"},
      {"def run(a, b):\n  c = a @ b\n  a.add_(1)\n  return c\n", v1::OUTCOME_INPUT_MODIFIED, "'a'"},
  };
  for (const auto& one : cases) {
    const v1::Verdict verdict = Check(one.text);
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), v1::Outcome_Name(one.outcome))
        << one.text << verdict.message();
    EXPECT_THAT(verdict.message(), HasSubstr(one.says)) << one.text;
    EXPECT_THAT(verdict.message(), ::testing::Not(HasSubstr("ksearch_runner.py"))) << one.text;
  }
}

TEST_F(PythonProgramTest, AnImportThatDoesNotEndIsStoppedAfterItsLoadTime) {
  v1::VerifierRequest request = Request(v1::JOB_KIND_CHECK, "while True: pass\n");
  *request.mutable_candidate()->mutable_load_time() = ToProto(absl::Milliseconds(500));
  const v1::Verdict verdict = Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_TIMEOUT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("loading"));
}

TEST_F(PythonProgramTest, OutputsOfEarlierCallsDoNotPass) {
  const v1::Verdict verdict = Verify(Request(v1::JOB_KIND_SCREEN, R"(
answers = {}
def run(a, b, c):
  key = (a.data_ptr(), a.shape)
  if key not in answers: answers[key] = a @ b
  c.copy_(answers[key])
)"));
  EXPECT_TRUE(verdict.outcome() == v1::OUTCOME_INCORRECT || verdict.outcome() == v1::OUTCOME_CHEAT)
      << v1::Outcome_Name(verdict.outcome()) << ": " << verdict.message();
}

using Dtypes = std::vector<std::pair<const char*, v1::DType>>;

// Makes a task with one tensor per dtype, which its reference copies, and scalars of each kind.
// *text: the source of that reference, which asserts what it gets.
v1::Task TaskOfKinds(const Dtypes& dtypes, std::string* text) {
  v1::Task task;
  CHECK_OK(ParseTextproto(R"(
    name: "kinds" device: DEVICE_CLASS_CPU
    definition { name: "kinds" op_type: "copy" axes { name: "n" } axes { name: "two" const_value: 2 }
      inputs { name: "count" scalar: true dtype: DTYPE_INT32 }
      inputs { name: "scale" scalar: true dtype: DTYPE_FLOAT32 }
      inputs { name: "flag" scalar: true dtype: DTYPE_BOOL } }
    tolerance { atol: 0 rtol: 0 }
    workloads { uuid: "w" axes { axis: "n" value: 5 }
      inputs { input: "count" scalar { int_value: 7 } }
      inputs { input: "scale" scalar { float_value: 0.25 } }
      inputs { input: "flag" scalar { bool_value: true } } }
  )",
                          "kinds", &task));
  std::string asserts = "  assert (count, scale, flag) == (7, 0.25, True) and flag is True\n";
  std::string parameters = "count, scale, flag", outputs, copies;
  for (const auto& [name, dtype] : dtypes) {
    v1::Definition& definition = *task.mutable_definition();
    for (v1::TensorSpec* tensor : {definition.add_inputs(), definition.add_outputs()}) {
      tensor->add_shape("n");
      tensor->add_shape("two");
      tensor->set_dtype(dtype);
    }
    definition.mutable_inputs()->rbegin()->set_name(absl::StrCat("x_", name));
    definition.mutable_outputs()->rbegin()->set_name(absl::StrCat("y_", name));
    v1::InputRecipe* recipe = task.mutable_workloads(0)->add_inputs();
    recipe->set_input(absl::StrCat("x_", name));
    recipe->mutable_random();
    absl::StrAppend(&parameters, ", x_", name);
    absl::StrAppend(&outputs, ", y_", name);
    absl::StrAppend(&asserts, "  assert x_", name, ".dtype == y_", name, ".dtype == torch.", name,
                    " and x_", name, ".shape == (5, 2)\n");
    absl::StrAppend(&copies, "  y_", name, ".copy_(x_", name, ")\n");
  }
  *text = absl::StrCat("import torch\ndef run(", parameters, outputs, "):\n", asserts, copies);
  return task;
}

// Tensors go through the verifier's memory and back.
TEST_F(PythonProgramTest, TensorsHaveTheDtypesAndShapesOfTheDefinition) {
  std::string text;
  const v1::Task task = TaskOfKinds({{"float32", v1::DTYPE_FLOAT32},
                                     {"float16", v1::DTYPE_FLOAT16},
                                     {"bfloat16", v1::DTYPE_BFLOAT16},
                                     {"int64", v1::DTYPE_INT64},
                                     {"int32", v1::DTYPE_INT32},
                                     {"int16", v1::DTYPE_INT16},
                                     {"int8", v1::DTYPE_INT8},
                                     {"bool", v1::DTYPE_BOOL}},
                                    &text);
  const v1::Verdict verdict = Verify(RequestOf(task, text));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
}

TEST_F(PythonProgramTest, Fp8TensorsAreTensorsOfTheirDtype) {
  std::string text;
  const v1::Task task = TaskOfKinds(
      {{"float8_e4m3fn", v1::DTYPE_FLOAT8_E4M3FN}, {"float8_e5m2", v1::DTYPE_FLOAT8_E5M2}}, &text);
  const v1::Verdict verdict = Verify(RequestOf(task, text));
  if (TorchHas("float8_e4m3fn") && TorchHas("float8_e5m2")) {
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
    return;
  }
  // Without fp8 in torch the runner must not pass another dtype instead.
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("has no dtype float8_e4m3fn"));
  GTEST_SKIP() << "the torch of " << kPython << " has no fp8 (torch 2.1 and later do)";
}

}  // namespace
}  // namespace ksearch
