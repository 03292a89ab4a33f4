// The warm stage on processors, where its programs are also in Python: under the real sandbox, with
// and without its tight filter. Skipped where /usr/bin/python3 has no torch.
#include "gpu_worker/verifier/warm/warm_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/python_programs.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A program that simulates compiling a kernel for each shape; `when` decides at which call.
std::string Compiling(const std::string& when) {
  return absl::StrCat(R"(
import os, subprocess, torch
folder = os.environ['TRITON_CACHE_DIR']
calls = 0
def run(a, b, c):
  global calls
  calls += 1
  path = '%s/kernel-%d-%s' % (folder, a.shape[0], )",
                      when, R"()
  if not os.path.exists(path):
    subprocess.run(['/bin/sh', '-c', 'echo compiled >> ' + path], check=True)
  torch.mm(a, b, out=c)
)");
}

class WarmStageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
    programs_ = std::make_unique<PythonPrograms>();
  }
  v1::Artifact Program(const std::string& text) {
    v1::Artifact artifact = programs_->Program(text);
    (*artifact.mutable_runner()->mutable_compiled_folders())["TRITON_CACHE_DIR"] = "triton";
    return artifact;
  }
  v1::VerifierRequest Request(const std::string& text) {
    v1::VerifierRequest request = programs_->Request(v1::JOB_KIND_CHECK, "def run(): pass\n");
    *request.mutable_candidate() = Program(text);
    return request;
  }
  v1::Verdict Verify(const v1::VerifierRequest& request) { return programs_->Verify(request); }

  std::unique_ptr<PythonPrograms> programs_;
};

TEST_F(WarmStageTest, WhatACallCompilesIsFoundWhereNothingCanBeCompiled) {
  const v1::VerifierRequest request = Request(Compiling("''"));
  const v1::Verdict verdict = Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_TRUE(verdict.isolation().tight_seccomp());
  // A second job reuses it; otherwise more calls would have been appended.
  EXPECT_EQ(Verify(request).outcome(), v1::OUTCOME_PASSED);
  int files = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(PythonPrograms::WarmFolder())) {
    if (file.path().filename().string().rfind("kernel-", 0) != 0) continue;
    ++files;
    EXPECT_EQ(ReadFile(file.path(), 100).value(), "compiled\n");
  }
  EXPECT_EQ(files, 2);  // workloads
}

TEST_F(WarmStageTest, WhatWasNotCompiledThenIsRefusedLater) {
  const v1::Verdict verdict = Verify(Request(Compiling("os.getpid() + calls")));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("the program raised NotCompiledError at line 10"));
}

TEST_F(WarmStageTest, CompilersErrorsAreToldInTheirWordsUnlessItConfirms) {
  const std::string text =
      "class CompilationError(Exception): pass\n"
      "CompilationError.__module__ = 'triton.compiler.errors'\n"
      "def run(a, b, c):\n"
      "  raise CompilationError('at 3:5: Got bf16 and fp32')\n";
  v1::VerifierRequest request = Request(text);
  const v1::Verdict verdict = Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_COMPILE_ERROR) << verdict.message();
  EXPECT_THAT(verdict.message(),
              AllOf(HasSubstr("workload "), HasSubstr("File \"program.py\", line 4, in run"),
                    HasSubstr("at 3:5: Got bf16 and fp32")));
  ASSERT_EQ(verdict.workloads_size(), 1);
  EXPECT_EQ(verdict.workloads(0).outcome(), v1::OUTCOME_COMPILE_ERROR);
  request = ConfirmRequest("honest", "honest");
  *request.mutable_candidate() = Program(text);
  const v1::Verdict confirmed = Verify(request);
  EXPECT_NE(confirmed.outcome(), v1::OUTCOME_PASSED);
  EXPECT_THAT(confirmed.message(), Not(HasSubstr("bf16")));
}

TEST_F(WarmStageTest, AProgramThatCompilesWithoutEndIsStopped) {
  v1::VerifierRequest request = Request("def run(a, b, c):\n  while True: pass\n");
  *request.mutable_job()->mutable_limits()->mutable_build_time() = ToProto(absl::Seconds(4));
  const v1::Verdict verdict = Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_COMPILE_TIMEOUT);
  EXPECT_THAT(verdict.message(), HasSubstr("what is compiled has 4s (limits.build_time;"));
}

// As torch.utils.cpp_extension does at the top level of a file, which takes longer than loading
// may.
TEST_F(WarmStageTest, WhatIsCompiledWhileAProgramLoadsHasTheTimeOfCompilers) {
  v1::VerifierRequest request = Request(R"(
import os, time, torch
path = os.environ['TRITON_CACHE_DIR'] + '/extension'
if not os.path.exists(path):
  time.sleep(7)
  open(path, 'w').close()
def run(a, b, c): torch.mm(a, b, out=c)
)");
  *request.mutable_candidate()->mutable_load_time() = ToProto(absl::Seconds(6));
  const v1::Verdict verdict = Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
}

TEST_F(WarmStageTest, AProgramThatFillsTheDiskIsStopped) {
  const auto begin = std::chrono::steady_clock::now();
  const v1::Verdict files =
      Verify(Request("import os\ndef run(a, b, c):\n  folder = os.environ['TRITON_CACHE_DIR']\n"
                     "  for i in range(10**7): open('%s/%d' % (folder, i), 'w').close()\n"));
  EXPECT_EQ(files.outcome(), v1::OUTCOME_COMPILE_LIMIT) << files.message();
  EXPECT_THAT(files.message(), HasSubstr("2048 MiB or 200000 files"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(2));
}

TEST_F(WarmStageTest, TheTasksOwnProgramsAreWarmedAndTheirFaultsAreTheTasks) {
  v1::VerifierRequest request = ScreenRequest("honest");
  *request.mutable_reference() = Program(Compiling("''"));
  EXPECT_EQ(Verify(request).outcome(), v1::OUTCOME_PASSED);
  *request.mutable_reference() = Program("def run(a, b, c):\n  raise ValueError('not today')\n");
  const v1::Verdict broken = Verify(request);
  EXPECT_EQ(broken.outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_THAT(broken.message(),
              AllOf(HasSubstr("the reference fails in its warm stage on workload"),
                    HasSubstr("ValueError: not today")));
}

TEST_F(WarmStageTest, LinksInWhatWasCompiledAreTheProgramsFault) {
  const v1::Verdict verdict = Verify(
      Request("import os\ndef run(a, b, c):\n"
              "  os.symlink('/etc', os.environ['TRITON_CACHE_DIR'] + '/link%d' % a.shape[0])\n"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_COMPILE_LIMIT);
  EXPECT_THAT(verdict.message(), HasSubstr("neither a file nor a folder"));
}

}  // namespace
}  // namespace ksearch
