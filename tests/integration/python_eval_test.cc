// A worker with a Python toolchain judges torch programs on a task whose own programs are in C++,
// with the real programs. Skipped where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/python_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kTask[] = "matmul_f32";
constexpr char kWrites[] = "import torch\n\ndef run(A, B, C):\n  torch.mm(A, B, out=C)\n";

class PythonEvalTest : public PythonClusterTest {
 protected:
  static void SetUpTestSuite() {
    if (!MakeCluster()) return;
    cluster_->StartCoordinator();
    cluster_->StartWorker("w1");
  }

  // `ksearch eval` of this text as a file kernel.py.
  static CommandOutput Eval(const std::string& text, std::vector<std::string> extra = {}) {
    const std::string path = cluster_->folder() + "/kernel.py";
    std::ofstream(path) << text;
    std::vector<std::string> args = {"eval", "--task", kTask, path};
    args.insert(args.end(), extra.begin(), extra.end());
    return cluster_->Cli(args, absl::Minutes(5));
  }
};

TEST_F(PythonEvalTest, BothFormsOfAProgramPassAgainstReferenceAndBaselineInAnotherLanguage) {
  for (const char* text : {kWrites, "def run(A, B):\n  return A @ B\n"}) {
    const CommandOutput output = Eval(text, {"--json"});
    EXPECT_EQ(output.exit.code, 0) << output.out << output.err;
    // The compiler of a result is its toolkit.
    EXPECT_THAT(output.out, AllOf(HasSubstr("OUTCOME_PASSED"), HasSubstr("torch 1."),
                                  HasSubstr("\"median_us\"")));
  }
}

TEST_F(PythonEvalTest, SyntaxErrorsAreCompileErrorsThatNameTheLine) {
  const CommandOutput output = Eval("import torch\n\ndef run(A, B, C)\n  torch.mm(A, B, out=C)\n");
  EXPECT_NE(output.exit.code, 0);
  EXPECT_THAT(output.out, AllOf(HasSubstr("compile_error"), HasSubstr("kernel.py:3: ")));
}

TEST_F(PythonEvalTest, AMissingModuleIsALoadErrorInTheProgramsOwnWords) {
  const CommandOutput output = Eval("import no_such_module\n\ndef run(A, B):\n  return A @ B\n");
  EXPECT_NE(output.exit.code, 0);
  EXPECT_THAT(output.out,
              AllOf(HasSubstr("load_error"), HasSubstr("No module named 'no_such_module'")));
}

TEST_F(PythonEvalTest, AnImportThatTakesMinutesIsATimeout) {
  const absl::Time start = absl::Now();
  const CommandOutput output =
      Eval("import time\ntime.sleep(300)\n\ndef run(A, B):\n  return A @ B\n");
  EXPECT_NE(output.exit.code, 0);
  EXPECT_THAT(output.out, HasSubstr("timeout"));
  EXPECT_LT(absl::Now() - start, absl::Minutes(2));
}

TEST_F(PythonEvalTest, AConfirmationComparesWithABaselineInAnotherLanguage) {
  const CommandOutput output = Eval(kWrites, {"--confirm"});
  EXPECT_EQ(output.exit.code, 0) << output.out << output.err;
  EXPECT_THAT(output.out, AllOf(HasSubstr("passed"), HasSubstr("baseline")));
}

TEST_F(PythonEvalTest, AnInterpreterThatIsMissingIsSaidAtTheStart) {
  const std::string config = cluster_->folder() + "/missing.textproto";
  std::ofstream(config)
      << "toolchains { language: LANGUAGE_PYTHON interpreter: \"/no/python3\" }\n";
  const CommandOutput output =
      RunProgram({cluster_->BinaryPath("ksearch-worker"), "--config", config, "--coordinator",
                  cluster_->address(), "--state-dir", cluster_->folder() + "/none"});
  EXPECT_EQ(output.exit.code, 3);
  EXPECT_THAT(output.err, AllOf(HasSubstr("/no/python3"), HasSubstr("--with-python")));
}

}  // namespace
}  // namespace ksearch
