#include "gpu_worker/build/python/python_toolchain.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/digest.h"
#include "common/folder_digest.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/build/compile/compile_step.h"
#include "gpu_worker/build/python/python_scripts.h"
#include "gpu_worker/build/source_check.h"

namespace ksearch {
namespace {

// The function that ksearch_runner.py calls.
constexpr char kEntry[] = "run";
// -I: ignores the environment and the user's own packages. -B: no __pycache__.
constexpr const char* kFlags[] = {"-I", "-B"};
// A syntax tree takes a hundred times the memory of its text.
constexpr int64_t kParserMemoryBytes = int64_t{2} << 30;
// Torch, and all tensors of one case of a problem: GPU problems have inputs of several GiB.
constexpr int64_t kLeastDescribeMemoryBytes = int64_t{16} << 30;
constexpr int64_t kMostDescribeMemoryBytes = int64_t{64} << 30;
// Some problems are described at once.
constexpr int64_t kDescribeShareOfMemory = 4;
// When many problems are described at once, torch's threads, one for each processor of a large
// machine, would wait for each other more than they compute.
constexpr int kLeastDescribeThreads = 4;
// For imports of large packages, and tables that a program computes when it is loaded.
constexpr absl::Duration kLoadTime = absl::Seconds(30);
// For the trial at the start: torch from a cold disk or over a network.
constexpr absl::Duration kTrialTime = absl::Minutes(3);
constexpr char kTrialScript[] =
    "import ctypes, sys, torch\n"
    "ctypes.PyDLL(sys.argv[1])\n"
    "torch.ones(2).sum().item()\n";

// A program without any of these words compiles nothing when it is called: the ways of Triton and
// torch to compile, and modules that may. A program that hides them is not warmed, and fails.
constexpr absl::string_view kCompilingWords[] = {"triton",        "compile",    "inductor",
                                                 "cpp_extension", "jit",        "tvm_ffi",
                                                 "tilelang",      "__import__", "importlib"};

constexpr char kInductorFolder[] = "TORCHINDUCTOR_CACHE_DIR";

// The folder of a compiler's results, by the environment variable that the compiler reads.
struct CompiledFolder {
  const char* variable;
  const char* folder;
  // Only programs with this word need it; empty: all that may compile on a GPU.
  absl::string_view word;
  // Programs on CPUs need it if they contain one of these words; none: they never do.
  std::vector<absl::string_view> host_words;
};
const std::vector<CompiledFolder>& CompiledFolders() {
  static const auto* const folders = new std::vector<CompiledFolder>{
      {"TRITON_CACHE_DIR", "triton", "", {}},
      {kInductorFolder, "inductor", "", {"torch.compile", "inductor"}},
      {"TORCH_EXTENSIONS_DIR", "extensions", "", {"cpp_extension"}},
      {"TVM_FFI_CACHE_DIR", "tvm_ffi", "tvm_ffi", {"tvm_ffi"}},
      {"TILELANG_CACHE_DIR", "tilelang", "tilelang", {}},
  };
  return *folders;
}

bool Mentions(const v1::Sources& sources, absl::string_view word) {
  return std::any_of(
      sources.files().begin(), sources.files().end(),
      [word](const v1::SourceFile& file) { return absl::StrContains(file.content(), word); });
}

bool MayCompile(const v1::Sources& sources) {
  return std::any_of(std::begin(kCompilingWords), std::end(kCompilingWords),
                     [&](absl::string_view word) { return Mentions(sources, word); });
}

// torch.compile exists since torch 2.0.
bool HasTorchCompile(absl::string_view torch_version) {
  int major = 0;
  return absl::SimpleAtoi(torch_version.substr(0, torch_version.find('.')), &major) && major >= 2;
}

// Torch makes a thread for every processor, which may be more than a job may have.
void BoundThreads(int max_processes, v1::RunnerCommand* runner) {
  const int most = max_processes / 2;
  if (static_cast<int>(std::thread::hardware_concurrency()) <= most) return;
  (*runner->mutable_environment())["OMP_NUM_THREADS"] = absl::StrCat(most);
}

void Show(const std::vector<std::string>& paths, SandboxSpec* spec) {
  for (const std::string& path : paths) {
    spec->binds.push_back({.host_path = path, .inside_path = path});
  }
}

// Starts a runner with the same command, without a verifier.
absl::Status Try(const v1::RunnerCommand& runner, const std::string& library, SandboxSpec spec,
                 Sandbox* sandbox) {
  spec.argv = {runner.argv(0)};
  spec.argv.insert(spec.argv.end(), std::begin(kFlags), std::end(kFlags));
  spec.argv.insert(spec.argv.end(), {"-c", kTrialScript, library});
  spec.environment.insert(runner.environment().begin(), runner.environment().end());
  Show({runner.reads().begin(), runner.reads().end()}, &spec);
  ASSIGN_OR_RETURN(const auto process, sandbox->Launch(spec));
  const auto exit = process->Wait(sandbox->Now() + kTrialTime);
  if (exit.has_value() && !exit->signaled && exit->code == 0) return absl::OkStatus();
  std::string output = exit.has_value() ? exit->output : "";
  const size_t last = output.find_last_not_of('\n');
  output.resize(last == std::string::npos ? 0 : last + 1);
  if (output.size() > 1000) output = absl::StrCat("...", output.substr(output.size() - 1000));
  return absl::FailedPreconditionError(absl::StrCat(
      runner.argv(0), " cannot run programs in the sandbox, which shows it ",
      absl::StrJoin(runner.reads(), ", "), " and the system's folders: ",
      !exit.has_value() ? "torch was not imported in time"
                        : absl::StrCat("it ended with ", exit->signaled ? "signal " : "status ",
                                       exit->code, ": ", output)));
}

int64_t DescribeMemoryBytes() {
  struct sysinfo machine {};
  if (::sysinfo(&machine) != 0) return kLeastDescribeMemoryBytes;
  const auto bytes = static_cast<int64_t>(machine.totalram) * machine.mem_unit;
  return std::clamp(bytes / kDescribeShareOfMemory, kLeastDescribeMemoryBytes,
                    kMostDescribeMemoryBytes);
}

// A description that runs alone gets every processor, which a large problem needs; one that starts
// beside others gets a share.
int DescribeThreads(int describing, int max_processes) {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  const int share = std::max(kLeastDescribeThreads, processors / std::max(1, describing));
  return std::max(1, std::min({processors, share, max_processes / 2}));
}

// The file that is loaded; empty if it is not clear which.
std::string MainFile(const v1::Sources& sources) {
  const std::string usual(FactsOf(sources.language()).main_path);
  std::vector<std::string> outside;
  for (const v1::SourceFile& file : sources.files()) {
    if (file.path() == usual) return usual;
    if (!absl::StrContains(file.path(), "/")) outside.push_back(file.path());
  }
  return outside.size() == 1 ? outside[0] : "";
}

BuildResult Refused(std::string message) {
  BuildResult refused;
  refused.outcome = v1::OUTCOME_INVALID_SOURCE;
  refused.message = std::move(message);
  return refused;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PythonToolchain>> PythonToolchain::Create(Options options,
                                                                         Sandbox* sandbox) {
  v1::RunnerCommand runner;
  const std::string script = absl::StrCat(options.binary_dir, "/", kRunnerScript);
  const std::string modules = absl::StrCat(options.binary_dir, "/", kRunnerModules);
  const std::string library = absl::StrCat(options.binary_dir, "/", kRunnerLibrary);
  for (const std::string& path : {script, absl::StrCat(modules, "/__init__.py"), library}) {
    if (!ReadFile(path, int64_t{1} << 30).ok()) {
      return absl::NotFoundError(absl::StrCat(
          path, " cannot be read: it belongs to a worker that runs programs in Python"));
    }
  }
  ASSIGN_OR_RETURN(const std::string path,
                   FindInterpreter(options.interpreter, options.virtual_environment));
  ASSIGN_OR_RETURN(Interpreter interpreter, DescribeInterpreter(path));
  runner.add_argv(path);
  runner.set_in_advance(true);
  for (const char* flag : kFlags) runner.add_argv(flag);
  runner.add_argv(script);
  runner.add_argv(library);
  for (const std::string& folder : interpreter.folders) runner.add_reads(folder);
  runner.add_reads(script);
  runner.add_reads(modules);
  runner.add_reads(library);
  const std::string libraries = absl::StrCat(options.binary_dir, "/", kLibrariesFolder);
  std::error_code error;
  if (std::filesystem::is_directory(libraries, error)) runner.add_reads(libraries);
  BoundThreads(options.sandbox_spec.max_processes, &runner);
  RETURN_IF_ERROR(Try(runner, library, options.sandbox_spec, sandbox));
  std::string fingerprint =
      absl::StrCat(VersionsOf(interpreter), " | ", absl::StrJoin(runner.argv(), " "), " | shows ",
                   absl::StrJoin(runner.reads(), " "), " | parser ",
                   Sha256Hex(CheckProgramScript()).substr(0, 16));
  for (const auto& [name, value] : runner.environment()) {
    absl::StrAppend(&fingerprint, " ", name, "=", value);
  }
  const absl::Status on_gpus = CheckGpuParts(interpreter);
  absl::StrAppend(&fingerprint, on_gpus.ok() ? " | on GPUs 1" : "");
  ASSIGN_OR_RETURN(auto folders, BuildFolders::Create(options.work_dir));
  return std::unique_ptr<PythonToolchain>(
      new PythonToolchain(std::move(options), sandbox, std::move(interpreter), std::move(runner),
                          std::move(fingerprint), std::move(folders)));
}

absl::Status PythonToolchain::ServesDevice(v1::DeviceClass device) const {
  return device == v1::DEVICE_CLASS_CUDA ? CheckGpuParts(interpreter_) : absl::OkStatus();
}

v1::RunnerCommand PythonToolchain::GpuRunner(const v1::Sources& sources) const {
  v1::RunnerCommand runner = runner_;
  auto& environment = *runner.mutable_environment();
  // Torch has thousands of kernels. Those that a call needs are loaded before timing starts.
  environment["CUDA_MODULE_LOADING"] = "LAZY";
  if (!MayCompile(sources)) return runner;
  // Must be equal when compiling and when reading the results: parts of it are in Triton's keys.
  environment["PATH"] =
      absl::StrCat(std::filesystem::path(interpreter_.path).parent_path().string(),
                   ":/usr/local/cuda/bin:/usr/bin");
  environment["CC"] = interpreter_.c_compiler;
  // Autotuning results are reused.
  environment["TRITON_CACHE_AUTOTUNING"] = "1";
  // Otherwise Triton runs ptxas, which cannot be started during measurements. Only part of its
  // keys.
  environment["TRITON_MOCK_PTX_VERSION"] = interpreter_.triton;
  environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1";
  // There is no /etc/passwd, and torch names a folder after the user.
  environment["USER"] = "sandbox";
  for (const CompiledFolder& each : CompiledFolders()) {
    if (each.word.empty() || Mentions(sources, each.word)) {
      (*runner.mutable_compiled_folders())[each.variable] = each.folder;
    }
  }
  return runner;
}

v1::RunnerCommand PythonToolchain::HostRunner(const v1::Sources& sources) const {
  v1::RunnerCommand runner = runner_;
  for (const CompiledFolder& each : CompiledFolders()) {
    const bool used = std::any_of(each.host_words.begin(), each.host_words.end(),
                                  [&](absl::string_view word) { return Mentions(sources, word); });
    const bool inductor = each.variable == kInductorFolder;
    if (used && (!inductor || HasTorchCompile(interpreter_.torch))) {
      (*runner.mutable_compiled_folders())[each.variable] = each.folder;
    }
  }
  if (runner.compiled_folders().empty()) return runner;
  auto& environment = *runner.mutable_environment();
  // The folders of g++ and ninja.
  environment["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  environment["USER"] = "sandbox";
  if (runner.compiled_folders().count(kInductorFolder) == 0) return runner;
  environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1";
  // Otherwise inductor compiles and starts a test program for each kind of vector instruction.
  environment["TORCHINDUCTOR_VEC_ISA_OK"] = "1";
  return runner;
}

SandboxSpec PythonToolchain::ParserSpec(const BuildRequest& request, const BuildFolder& folder,
                                        const std::string& main_file) const {
  SandboxSpec spec = CompileSpec(options_.sandbox_spec, folder, request.limits, kParserMemoryBytes);
  spec.argv = {interpreter_.path};
  spec.argv.insert(spec.argv.end(), std::begin(kFlags), std::end(kFlags));
  spec.argv.insert(spec.argv.end(), {"-c", std::string(CheckProgramScript()), kEntry, main_file});
  for (std::string& path : CompiledPaths(request.sources, PythonSourceRules())) {
    spec.argv.push_back(std::move(path));
  }
  Show(interpreter_.folders, &spec);
  return spec;
}

absl::StatusOr<BuildResult> PythonToolchain::Build(const BuildRequest& request,
                                                   std::stop_token stop) {
  if (request.variant != BuildVariant::kPlain) {
    return absl::FailedPreconditionError("only CUDA programs have other builds than the plain one");
  }
  const bool on_gpu = !request.architecture.empty();
  if (on_gpu) RETURN_IF_ERROR(ServesDevice(v1::DEVICE_CLASS_CUDA));
  const absl::Time start = sandbox_->Now();
  const absl::Status usable = CheckSources(request.sources, request.limits, PythonSourceRules());
  if (!usable.ok()) return Refused(std::string(usable.message()));
  const std::string main_file = MainFile(request.sources);
  if (main_file.empty()) {
    return Refused(absl::StrCat("which file is loaded? Of several one must be called ",
                                FactsOf(request.sources.language()).main_path));
  }
  ASSIGN_OR_RETURN(const auto folder, folders_->Make(request.sources));
  ASSIGN_OR_RETURN(const CompilerRun run,
                   RunCompiler(*sandbox_, ParserSpec(request, *folder, main_file), *folder,
                               start + BuildTime(request.limits), stop));
  BuildResult result = JudgeCompiler(run, run.exit.output, request.limits, kParserMemoryBytes);
  result.report.set_compiler(toolkit());
  result.report.set_flags(absl::StrJoin(kFlags, " "));
  if (result.outcome == v1::OUTCOME_PASSED) {
    ASSIGN_OR_RETURN(const std::string sha256, FolderSha256(folder->src(), int64_t{1} << 30));
    int64_t bytes = 0;
    for (const v1::SourceFile& file : request.sources.files()) {
      bytes += static_cast<int64_t>(file.content().size());
    }
    result.report.set_artifact_bytes(bytes);
    result.report.set_artifact_sha256(sha256);
    result.artifact_path = folder->src();
    result.artifact_hold = folder;
    *result.loading.mutable_runner() =
        on_gpu ? GpuRunner(request.sources) : HostRunner(request.sources);
    *result.loading.mutable_load_time() = ToProto(kLoadTime);
    result.loading.set_main_file(main_file);
  }
  *result.report.mutable_wall_time() = ToProto(sandbox_->Now() - start);
  return result;
}

absl::StatusOr<ProgramDescription> PythonToolchain::Describe(const BuildRequest& request,
                                                             std::stop_token stop) {
  const auto refused = [](std::string message) {
    ProgramDescription description;
    description.outcome = v1::OUTCOME_INVALID_SOURCE;
    description.message = std::move(message);
    return description;
  };
  const absl::Status usable = CheckSources(request.sources, request.limits, PythonSourceRules());
  if (!usable.ok()) return refused(std::string(usable.message()));
  const std::string main_file = MainFile(request.sources);
  if (main_file.empty()) return refused("which file is run?");
  ASSIGN_OR_RETURN(const auto folder, folders_->Make(request.sources));
  const int64_t memory_bytes = DescribeMemoryBytes();
  SandboxSpec spec = CompileSpec(options_.sandbox_spec, *folder, request.limits, memory_bytes);
  spec.argv = {interpreter_.path};
  spec.argv.insert(spec.argv.end(), std::begin(kFlags), std::end(kFlags));
  spec.argv.push_back(main_file);
  spec.environment.insert(runner_.environment().begin(), runner_.environment().end());
  // There is no /etc/passwd.
  spec.environment.insert({"USER", "sandbox"});
  const absl::Cleanup ends = [this] { --describing_; };
  spec.environment["OMP_NUM_THREADS"] =
      absl::StrCat(DescribeThreads(++describing_, spec.max_processes));
  Show(interpreter_.folders, &spec);
  ASSIGN_OR_RETURN(
      const CompilerRun run,
      RunCompiler(*sandbox_, spec, *folder, sandbox_->Now() + BuildTime(request.limits), stop));
  const BuildResult ended = JudgeCompiler(run, run.exit.output, request.limits, memory_bytes);
  ProgramDescription description;
  description.outcome = ended.outcome;
  description.message =
      absl::StrReplaceAll(ended.message, {{"the compiler", "the problem's Python"}});
  if (ended.outcome != v1::OUTCOME_PASSED) return description;
  const std::string mark = absl::StrCat("\n", kDescriptionMark);
  const std::string output = absl::StrCat("\n", run.exit.output);
  const size_t begin = output.rfind(mark);
  if (begin == std::string::npos) return refused("the program ended without a description");
  const size_t text = begin + mark.size();
  description.text = output.substr(text, output.find('\n', text) - text);
  return description;
}

}  // namespace ksearch
