// Uses the real sandbox and the interpreter of Debian's python3-torch; skipped without it.
#include "gpu_worker/build/python/python_toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/folder_digest.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

CommandOutput OutputOfCommand(std::vector<std::string> argv) {
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/tmp"}};
  auto output = RunCommand(options, absl::Minutes(2));
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? *std::move(output) : CommandOutput{};
}

using Files = std::vector<std::pair<std::string, std::string>>;

BuildRequest Request(const Files& files) {
  BuildRequest request;
  request.sources.set_language(v1::LANGUAGE_PYTHON);
  for (const auto& [path, content] : files) {
    v1::SourceFile* file = request.sources.add_files();
    file->set_path(path);
    file->set_content(content);
  }
  *request.limits.mutable_build_time() = ToProto(absl::Seconds(60));
  return request;
}

// Importing torch takes seconds, so all tests share one toolchain.
class PythonToolchainTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!HasTorch()) return;
    auto sandbox = MakeSandbox(v1::SandboxSettings());
    ASSERT_TRUE(sandbox.ok()) << sandbox.status();
    sandbox_ = sandbox->release();
    auto toolchain = PythonToolchain::Create(OptionsFor(kPython), sandbox_);
    ASSERT_TRUE(toolchain.ok()) << toolchain.status();
    toolchain_ = toolchain->release();
  }
  static void TearDownTestSuite() {
    delete toolchain_;
    delete sandbox_;
    toolchain_ = nullptr;
    sandbox_ = nullptr;
  }
  void SetUp() override {
    if (toolchain_ == nullptr) GTEST_SKIP() << kPython << " has no torch";
  }

  static PythonToolchain::Options OptionsFor(const std::string& interpreter) {
    PythonToolchain::Options options;
    options.interpreter = interpreter;
    options.binary_dir = ScratchFolder() + "/bin";
    options.work_dir = ScratchFolder() + "/build";
    return options;
  }
  static BuildResult Build(const Files& files) {
    auto result = toolchain_->Build(Request(files), {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : BuildResult();
  }
  static std::string Message(const absl::Status& status) { return std::string(status.message()); }

  static Sandbox* sandbox_;
  static PythonToolchain* toolchain_;
};

Sandbox* PythonToolchainTest::sandbox_ = nullptr;
PythonToolchain* PythonToolchainTest::toolchain_ = nullptr;

TEST_F(PythonToolchainTest, AProgramIsTheFolderOfItsSourcesAndWhatRunsIt) {
  const BuildResult result = Build({{"kernel.py", "import parts.mm\nrun = parts.mm.run\n"},
                                    {"parts/__init__.py", ""},
                                    {"parts/mm.py", "def run(a, b, c):\n  pass\n"}});
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message;
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(result.artifact_path)) {
    if (file.is_regular_file()) {
      files.push_back(file.path().lexically_relative(result.artifact_path));
    }
  }
  std::sort(files.begin(), files.end());
  EXPECT_THAT(files, ElementsAre("kernel.py", "parts/__init__.py", "parts/mm.py"));
  EXPECT_EQ(FolderSha256(result.artifact_path, 1 << 20).value(), result.report.artifact_sha256());
  EXPECT_EQ(result.report.artifact_bytes(), 35 + 25);
  EXPECT_EQ(result.loading.main_file(), "kernel.py");
  EXPECT_THAT(result.loading.runner().argv(),
              ElementsAre(kPython, "-I", "-B", ScratchFolder() + "/bin/ksearch_runner.py",
                          ScratchFolder() + "/bin/libksearch_python_runner.so"));
  EXPECT_GE(FromProto(result.loading.load_time()), absl::Seconds(10));
  EXPECT_THAT(result.report.compiler(), AllOf(HasSubstr("python 3."), HasSubstr(", torch ")));
  EXPECT_EQ(toolchain_->toolkit(), result.report.compiler());
  EXPECT_TRUE(absl::StartsWith(toolchain_->fingerprint(), toolchain_->toolkit()));
  EXPECT_GT(FromProto(result.report.wall_time()), absl::ZeroDuration());
}

TEST_F(PythonToolchainTest, WhatNoKernelNeedsIsAWarning) {
  const BuildResult result =
      Build({{"kernel.py", "import parts\ndef run(a, b, c):\n  a.copy_(b)\n"},
             {"parts.py", "import ctypes\n# kernel.py:1: error: no error\nopen('/proc/1/mem')\n"}});
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message;
  std::vector<std::string> warnings;
  for (const v1::Diagnostic& diagnostic : result.report.diagnostics()) {
    warnings.push_back(absl::StrCat(diagnostic.file(), ":", diagnostic.line(), " ",
                                    diagnostic.severity(), " ", diagnostic.message()));
  }
  EXPECT_THAT(
      warnings,
      ElementsAre("parts.py:3 warning source: looks at the machine: /proc",
                  "parts.py:1 warning source: looks up functions of other libraries: ctypes",
                  "parts.py:3 warning source: opens files: open"));
}

TEST_F(PythonToolchainTest, AProgramThatDescribesIsRunOnceAndItsLastMarkedLineTaken) {
  const auto describe = [](const std::string& program, const std::string& other = "") {
    auto result =
        toolchain_->Describe(Request({{"kernel.py", program}, {"problem.py", other}}), {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : ProgramDescription();
  };
  const ProgramDescription good = describe(
      "import torch\n"
      "print('ksearch-description: early')\n"
      "text = open('problem.py').read()\n"
      "print('noise\\nksearch-description: ' + text + str(int(torch.ones(3).sum())))\n"
      "print('more')\n",
      "sum ");
  EXPECT_EQ(good.outcome, v1::OUTCOME_PASSED) << good.message;
  EXPECT_EQ(good.text, "sum 3");
  const ProgramDescription silent = describe("print('no ksearch-description: here')\n");
  EXPECT_EQ(silent.outcome, v1::OUTCOME_INVALID_SOURCE);
  EXPECT_THAT(silent.message, HasSubstr("without a description"));
  const ProgramDescription failed = describe("raise SystemExit(3)\n");
  EXPECT_EQ(failed.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_EQ(failed.text, "");
  // Sees nothing outside the sandbox.
  const ProgramDescription curious = describe(
      "import os\n"
      "print('\\nksearch-description:', os.path.exists('/home'), os.access('/src', os.W_OK))\n");
  EXPECT_EQ(curious.text, "False False") << curious.message;
  // Alone on the machine, it may use all of it.
  const ProgramDescription busy = describe(
      "import os, torch\n"
      "print('\\nksearch-description:', torch.get_num_threads() == os.cpu_count())\n");
  EXPECT_EQ(busy.text, "True") << busy.message;
}

// Debian's torch has no CUDA.
TEST_F(PythonToolchainTest, AnInterpreterThatLacksWhatGpusNeedServesProcessorsAlone) {
  EXPECT_TRUE(toolchain_->ServesDevice(v1::DEVICE_CLASS_CPU).ok());
  const absl::Status on_gpus = toolchain_->ServesDevice(v1::DEVICE_CLASS_CUDA);
  if (on_gpus.ok()) GTEST_SKIP() << kPython << " has torch with CUDA, and Triton";
  EXPECT_EQ(on_gpus.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(on_gpus),
              AllOf(HasSubstr("cannot run programs on GPUs"), HasSubstr(kPython)));
  BuildRequest request = Request({{"kernel.py", "def run(): pass\n"}});
  request.architecture = "sm_90a";
  EXPECT_EQ(toolchain_->Build(request, {}).status(), on_gpus);
}

// The toolchain describes itself as in the tests above, except for what it lacks.
TEST_F(PythonToolchainTest, OnGpusProgramsThatMayCompileHaveFoldersForIt) {
  const std::string folder = ScratchFolder() + "/gpu_environment";
  ASSERT_EQ(
      OutputOfCommand({kPython, "-m", "venv", "--system-site-packages", "--without-pip", folder})
          .exit.code,
      0);
  const std::string packages = absl::StrCat(
      folder, "/lib/python",
      OutputOfCommand({kPython, "-c", "import sys; print('%d.%d' % sys.version_info[:2], end='')"})
          .out,
      "/site-packages");
  std::filesystem::create_directories(packages + "/triton-3.6.0.dist-info");
  std::ofstream(packages + "/triton-3.6.0.dist-info/METADATA")
      << "Metadata-Version: 2.1\nName: triton\nVersion: 3.6.0\n";
  std::ofstream(packages + "/version.pth") << "import other_version\n";
  std::ofstream(packages + "/other_version.py") << R"(
import sys
from importlib.machinery import ModuleSpec

class OtherVersion:
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name == "torch.version" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        module.__version__, module.cuda = "2.11.0+cu130", "13.0"
        module.debug, module.git_version, module.hip = False, "", None

sys.meta_path.insert(0, OtherVersion())
)";
  auto made = PythonToolchain::Create(OptionsFor(folder + "/bin/python3"), sandbox_);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto runner = [&](const std::string& text, const std::string& architecture) {
    BuildRequest request = Request({{"kernel.py", text}});
    request.architecture = architecture;
    auto built = (*made)->Build(request, {});
    EXPECT_TRUE(built.ok() && built->outcome == v1::OUTCOME_PASSED);
    return built.ok() ? built->loading.runner() : v1::RunnerCommand();
  };
  EXPECT_TRUE(runner("import triton\ndef run(): pass\n", "").compiled_folders().empty());
  const v1::RunnerCommand compiled = runner("import torch\n@torch.compile\ndef run(): pass\n", "");
  EXPECT_EQ(compiled.compiled_folders().at("TORCHINDUCTOR_CACHE_DIR"), "inductor");
  EXPECT_EQ(compiled.compiled_folders().size(), 1u);
  const v1::RunnerCommand extension =
      runner("from torch.utils import cpp_extension\ndef run(): pass\n", "");
  EXPECT_EQ(extension.compiled_folders().at("TORCH_EXTENSIONS_DIR"), "extensions");
  EXPECT_EQ(extension.compiled_folders().size(), 1u);
  const v1::RunnerCommand ffi = runner("import tvm_ffi\ndef run(): pass\n", "");
  EXPECT_EQ(ffi.compiled_folders().at("TVM_FFI_CACHE_DIR"), "tvm_ffi");
  EXPECT_EQ(ffi.compiled_folders().size(), 1u);
  if (const absl::Status served = (*made)->ServesDevice(v1::DEVICE_CLASS_CUDA); !served.ok()) {
    GTEST_SKIP() << served;  // no headers on this machine
  }
  const v1::RunnerCommand triton = runner("import triton\ndef run(): pass\n", "sm_90a");
  EXPECT_EQ(triton.compiled_folders().at("TRITON_CACHE_DIR"), "triton");
  EXPECT_EQ(triton.compiled_folders().size(), 3u);
  EXPECT_EQ(runner("import tilelang\ndef run(): pass\n", "sm_90a")
                .compiled_folders()
                .at("TILELANG_CACHE_DIR"),
            "tilelang");
  EXPECT_EQ(triton.environment().at("TRITON_CACHE_AUTOTUNING"), "1");
  EXPECT_EQ(triton.environment().at("TRITON_MOCK_PTX_VERSION"), "3.6.0");
  EXPECT_EQ(triton.environment().at("CUDA_MODULE_LOADING"), "LAZY");
  const v1::RunnerCommand torch = runner("import torch\ndef run(): pass\n", "sm_90a");
  EXPECT_TRUE(torch.compiled_folders().empty());
  EXPECT_EQ(torch.environment().at("CUDA_MODULE_LOADING"), "LAZY");
}

TEST_F(PythonToolchainTest, TheArtifactGoesWithTheLastHold) {
  BuildResult result = Build({{"kernel.py", "def run(): pass\n"}});
  ASSERT_TRUE(std::filesystem::exists(result.artifact_path));
  result.artifact_hold.reset();
  EXPECT_FALSE(std::filesystem::exists(result.artifact_path));
}

TEST_F(PythonToolchainTest, SyntaxErrorsNameFileAndLine) {
  const BuildResult result = Build({{"kernel.py", "import torch\ndef run(a, b)\n  return a\n"},
                                    {"other.py", "x = 1\n\nreturn x\n"}});
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_EQ(result.message, "kernel.py:2: expected ':'");
  ASSERT_EQ(result.report.diagnostics_size(), 2);
  EXPECT_EQ(result.report.diagnostics(0).file(), "kernel.py");
  EXPECT_EQ(result.report.diagnostics(0).line(), 2);
  EXPECT_EQ(result.report.diagnostics(1).file(), "other.py");
  EXPECT_EQ(result.report.diagnostics(1).line(), 3);
  EXPECT_THAT(result.report.log_excerpt(), HasSubstr("2 | def run(a, b)"));
  EXPECT_EQ(result.artifact_path, "");
}

TEST_F(PythonToolchainTest, TheEntryMustBeDefinedAtTheTopLevelOfTheMainFile) {
  for (const char* text :
       {"def run(a): pass\n", "run = lambda a: a\n", "run: object = print\n",
        "a, (run, *c) = 1, (2, 3)\n", "from other import run\n", "from other import *\n",
        "import other as run\n", "class run: pass\n",
        "if True:\n  try:\n    import torch\n  except ImportError:\n    run = 3\n",
        "with open('x'):\n  def run(): pass\n", "for run in (1, 2):\n  pass\nelse:\n  run = 3\n"}) {
    const BuildResult result = Build({{"kernel.py", text}});
    EXPECT_EQ(result.outcome, v1::OUTCOME_PASSED) << text << result.message;
  }
  for (const char* text : {"", "def walk(a): pass\n", "def f():\n  def run(): pass\n",
                           "class A:\n  def run(self): pass\n", "run: object\n", "a.run = 3\n",
                           "f(run=3)\n", "# def run(a): pass\n", "'''\ndef run(a): pass\n'''\n",
                           "async def run(): pass\n", "global run\n"}) {
    const BuildResult result = Build({{"kernel.py", text}, {"other.py", "def run(): pass\n"}});
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << text;
    EXPECT_THAT(result.message,
                AllOf(HasSubstr("kernel.py"), HasSubstr("defines no function 'run'"),
                      HasSubstr("run(inputs...) that returns the outputs")))
        << text;
  }
}

TEST_F(PythonToolchainTest, TheOnlyFileOutsideOfFoldersIsTheMainOne) {
  EXPECT_EQ(Build({{"reference.py", "def run(): pass\n"}, {"own/x.py", ""}}).loading.main_file(),
            "reference.py");
  EXPECT_EQ(Build({{"another.py", ""}, {"kernel.py", "def run(): pass\n"}}).loading.main_file(),
            "kernel.py");
  const BuildResult unclear = Build({{"a.py", "def run(): pass\n"}, {"b.py", ""}});
  EXPECT_EQ(unclear.outcome, v1::OUTCOME_INVALID_SOURCE);
  EXPECT_THAT(unclear.message, HasSubstr("kernel.py"));
}

TEST_F(PythonToolchainTest, FilesThatAreNoneNeverReachTheParser) {
  EXPECT_EQ(Build({{"../kernel.py", "def run(): pass\n"}}).outcome, v1::OUTCOME_INVALID_SOURCE);
  EXPECT_EQ(Build({{"kernel.py", "def run(): pass\n"}, {"evil.so", "x"}}).outcome,
            v1::OUTCOME_INVALID_SOURCE);
  EXPECT_EQ(Build({{"kernel.py", std::string("run = 1\0", 8)}}).outcome,
            v1::OUTCOME_INVALID_SOURCE);
  BuildRequest large = Request({{"kernel.py", "run = 1 #" + std::string(1000, 'x')}});
  large.limits.set_source_bytes(500);
  EXPECT_EQ(toolchain_->Build(large, {})->outcome, v1::OUTCOME_INVALID_SOURCE);
}

// Text in another encoding reads differently to a person than to the interpreter.
TEST_F(PythonToolchainTest, HostileTextsAreErrorsOfTheProgram) {
  const std::pair<std::string, const char*> cases[] = {
      {"# -*- coding: utf-7 -*-\nrun = 1\n", "must be UTF-8"},
      {"run = '\xff'\n", "encoding"},
      {"run = " + std::string(100'000, '-') + "1\n", "nested too deeply"},
      {"run = " + std::string(5'000, '(') + "\n", "too many nested"},
      {"run = 1\n\tx = 2\n        y = 3\n", "indent"},
  };
  for (const auto& [text, says] : cases) {
    const BuildResult result = Build({{"kernel.py", text}});
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << text.substr(0, 100);
    EXPECT_THAT(result.message, HasSubstr(says)) << text.substr(0, 100);
    EXPECT_LT(result.message.size(), 2000u);
  }
}

TEST_F(PythonToolchainTest, NothingOfAProgramRunsWhileItIsBuilt) {
  const BuildResult result =
      Build({{"kernel.py", "import sys\nsys.exit(7)\ndef run(): pass\n"},
             // Would shadow the library's own if the sources were on the path.
             {"ast.py", "raise SystemExit(9)\n"},
             {"sitecustomize.py", "raise SystemExit(9)\n"}});
  EXPECT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message;
}

TEST_F(PythonToolchainTest, TimeAndStopEndABuild) {
  BuildRequest request = Request({{"kernel.py", "run = 1\n"}});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(toolchain_->Build(request, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
  *request.limits.mutable_build_time() = ToProto(absl::Milliseconds(1));
  EXPECT_EQ(toolchain_->Build(request, {})->outcome, v1::OUTCOME_COMPILE_TIMEOUT);
}

// It lies outside the system's folders, so it has to be bound into the sandbox.
TEST_F(PythonToolchainTest, AVirtualEnvironmentIsShownToTheSandbox) {
  const std::string folder = ScratchFolder() + "/venv";
  const CommandOutput made =
      OutputOfCommand({kPython, "-m", "venv", "--system-site-packages", "--without-pip", folder});
  if (made.exit.code != 0) GTEST_SKIP() << "no module venv: " << made.out << made.err;
  // Installed only there.
  const std::string packages =
      OutputOfCommand({folder + "/bin/python3", "-c",
                       "import sysconfig; print(sysconfig.get_path('purelib'), "
                       "end='')"})
          .out;
  std::ofstream(packages + "/only_here.py") << "x = 1\n";
  PythonToolchain::Options options = OptionsFor("");
  options.virtual_environment = folder;
  const auto toolchain = PythonToolchain::Create(std::move(options), sandbox_);
  ASSERT_TRUE(toolchain.ok()) << toolchain.status();
  const auto built = (*toolchain)->Build(Request({{"kernel.py", "def run(): pass\n"}}), {});
  ASSERT_TRUE(built.ok()) << built.status();
  ASSERT_EQ(built->outcome, v1::OUTCOME_PASSED) << built->message;
  EXPECT_EQ(built->loading.runner().argv(0), folder + "/bin/python3");
  EXPECT_THAT(built->loading.runner().reads(), Contains(folder));
  EXPECT_NE((*toolchain)->fingerprint(), toolchain_->fingerprint());

  SandboxSpec spec;
  spec.argv = {built->loading.runner().argv(0), "-I", "-B", "-c",
               "import sys, torch, only_here; print(sys.prefix)"};
  for (const std::string& path : built->loading.runner().reads()) {
    spec.binds.push_back({.host_path = path, .inside_path = path});
  }
  const auto process = sandbox_->Launch(spec);
  ASSERT_TRUE(process.ok()) << process.status();
  const auto exit = (*process)->Wait(absl::InfiniteFuture());
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 0) << exit->output;
  EXPECT_EQ(exit->output, folder + "\n");
}

TEST_F(PythonToolchainTest, AnInterpreterWithoutTorchIsRefusedWithAdvice) {
  const std::string folder = ScratchFolder() + "/bare";
  if (OutputOfCommand({kPython, "-m", "venv", "--without-pip", folder}).exit.code != 0) {
    GTEST_SKIP() << "no module venv";
  }
  const auto toolchain = PythonToolchain::Create(OptionsFor(folder + "/bin/python3"), sandbox_);
  EXPECT_EQ(toolchain.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(toolchain.status()),
              AllOf(HasSubstr("No module named 'torch'"), HasSubstr(folder + "/bin/python3"),
                    HasSubstr("pip install torch")));
}

TEST_F(PythonToolchainTest, WithoutItsRunnerItDoesNotStart) {
  PythonToolchain::Options options = OptionsFor(kPython);
  options.binary_dir = "/no/such/folder";
  const auto toolchain = PythonToolchain::Create(std::move(options), sandbox_);
  EXPECT_EQ(toolchain.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(toolchain.status()), HasSubstr("/no/such/folder/ksearch_runner.py"));
}

// An error that every program would meet, here a broken library, fails at the start.
TEST_F(PythonToolchainTest, ARunnerThatDoesNotLoadIsSaidAtTheStart) {
  const std::string folder = ScratchFolder() + "/broken";
  std::filesystem::create_directories(folder + "/ksearch_runner_modules");
  std::ofstream(folder + "/ksearch_runner.py") << "";
  std::ofstream(folder + "/ksearch_runner_modules/__init__.py") << "";
  std::ofstream(folder + "/libksearch_python_runner.so") << "none";
  PythonToolchain::Options options = OptionsFor(kPython);
  options.binary_dir = folder;
  const auto toolchain = PythonToolchain::Create(std::move(options), sandbox_);
  EXPECT_EQ(toolchain.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(toolchain.status()), HasSubstr("libksearch_python_runner.so"));
}

TEST_F(PythonToolchainTest, TheFactoryMakesItWithACache) {
  v1::WorkerConfig config;
  v1::Toolchain* wanted = config.add_toolchains();
  wanted->set_language(v1::LANGUAGE_PYTHON);
  wanted->set_interpreter(kPython);
  config.set_binary_dir(ScratchFolder() + "/bin");
  const auto made = MakeToolchains(config, ScratchFolder() + "/state", sandbox_);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto& builder = made->at(v1::LANGUAGE_PYTHON);
  const BuildRequest request = Request({{"kernel.py", "def run(): pass\n"}});
  EXPECT_FALSE(builder->Build(request, {})->report.cached());
  const auto again = builder->Build(request, {});
  EXPECT_TRUE(again->report.cached());
  EXPECT_EQ(again->loading.main_file(), "kernel.py");
  EXPECT_TRUE(std::filesystem::exists(again->artifact_path + "/kernel.py"));
  config.mutable_toolchains(0)->set_interpreter("/no/python3");
  EXPECT_THAT(Message(MakeToolchains(config, ScratchFolder() + "/state", sandbox_).status()),
              AllOf(HasSubstr("toolchains[0] (LANGUAGE_PYTHON)"), HasSubstr("/no/python3")));
}

}  // namespace
}  // namespace ksearch
