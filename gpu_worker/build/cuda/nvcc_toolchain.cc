#include "gpu_worker/build/cuda/nvcc_toolchain.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/build/cuda/cuda_header.h"
#include "gpu_worker/build/cuda/nvcc_steps.h"
#include "gpu_worker/build/cuda/ptx_delays.h"
#include "gpu_worker/build/cuda/ptxas_report.h"
#include "gpu_worker/build/cuda/sass_facts.h"
#include "gpu_worker/build/source_check.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// -nodlink: nothing is relocatable device code, and the extra link costs 0.1 s. No
// --extended-lambda: it adds 0.5 s, a third of a small build. No -lineinfo: only reports of
// compute-sanitizer need it, and the program under it is built apart (BuildVariant::kLined).
// Bombs are bounded by -ftemplate-depth, -fmax-errors and the sandbox. The linker refuses undefined
// symbols and a missing entry: better here than on the device. Warnings 177 and 550 (variables
// declared or set but not used) crowd out those that matter.
constexpr const char* kFlags[] = {
    "-std=c++20",
    "-O3",
    "-shared",
    "-cudart=static",
    "-nodlink",
    "--expt-relaxed-constexpr",
    "-ftemplate-depth=512",
    "-diag-suppress=177,550",
    "-I.",
    "-Xptxas=-v",
    "-Xcompiler=-fPIC,-fmax-errors=20,-fdiagnostics-color=never",
    "-Xlinker=-z,now,-z,defs,--require-defined=ksearch_run",
};

// cicc and cudafe++ take 1 to 3 GiB for large template libraries.
constexpr int64_t kCompileMemoryBytes = int64_t{8} << 30;

constexpr char kEntryParameters[] = "const KsearchArgs* args, cudaStream_t stream";
constexpr char kLineTableFlag[] = "-lineinfo";
constexpr char kUsualPath[] = "/usr/local/cuda/bin/nvcc";
// For a delayed build: the intermediate files of its steps, in the folder that compilers write to.
constexpr char kStepsFolder[] = "/steps";
constexpr char kToPtxScript[] = "to_ptx.sh";  // no source file may have this ending
constexpr char kFromPtxScript[] = "from_ptx.sh";
// Enough for listings of large template kernels; the rest is not counted.
constexpr int64_t kListingBytes = int64_t{24} << 20;
constexpr absl::Duration kListingTime = absl::Seconds(10);

// "Cuda compilation tools, release 13.0, V13.0.88" and "Build cuda_13.0.r13.0/compiler...".
std::string VersionLine(absl::string_view output) {
  std::string line;
  for (absl::string_view part : absl::StrSplit(output, '\n')) {
    const size_t release = part.find("release ");
    if (release != absl::string_view::npos) line = absl::StrCat("nvcc ", part.substr(release));
    if (absl::StartsWith(part, "Build ")) absl::StrAppend(&line, ", ", absl::AsciiStrToLower(part));
  }
  return line;
}

bool IsUnder(absl::string_view path, absl::string_view folder) {
  return absl::StartsWith(path, absl::StrCat(folder, "/")) || path == folder;
}

// Toolkits are trees of links: files that nvcc reads may be elsewhere than nvcc.
std::vector<SandboxSpec::Bind> ToolkitBinds(const std::string& nvcc) {
  const fs::path root = fs::path(nvcc).parent_path().parent_path();
  std::vector<SandboxSpec::Bind> binds;
  for (const char* part : {"", "include", "lib64", "nvvm", "targets"}) {
    std::error_code error;
    const std::string real = fs::canonical(root / part, error).string();
    if (error || IsUnder(real, "/usr") ||
        std::any_of(binds.begin(), binds.end(), [&real](const SandboxSpec::Bind& bind) {
          return IsUnder(real, bind.host_path);
        })) {
      continue;
    }
    binds.push_back({.host_path = real, .inside_path = real});
  }
  return binds;
}

// The architectures of `nvcc --list-gpu-code`, and those that it builds for without listing them:
// besides sm_90 there is sm_90a (specific to it), from sm_100 on also sm_100f (its family).
std::set<std::string> Architectures(absl::string_view listed) {
  std::set<std::string> names;
  for (absl::string_view line : absl::StrSplit(listed, '\n', absl::SkipWhitespace())) {
    const std::string name(absl::StripAsciiWhitespace(line));
    names.insert(name);
    int number = 0;
    absl::string_view digits = name;
    if (!absl::ConsumePrefix(&digits, "sm_") || !absl::SimpleAtoi(digits, &number)) continue;
    if (number >= 90) names.insert(name + "a");
    if (number >= 100) names.insert(name + "f");
  }
  return names;
}

BuildResult Refused(const absl::Status& reason) {
  BuildResult result;
  result.outcome = v1::OUTCOME_INVALID_SOURCE;
  result.message = std::string(reason.message());
  return result;
}

// Puts delays into every PTX file of `folder`. The compiler wrote there: leaves alone what is not a
// regular file.
absl::Status AddDelaysIn(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.path().extension() != ".ptx" || entry.is_symlink(ignored) ||
        !entry.is_regular_file(ignored)) {
      continue;
    }
    const std::string path = entry.path();
    ASSIGN_OR_RETURN(const std::string ptx, ReadFile(path, kMaxPtxBytes));
    ASSIGN_OR_RETURN(const DelayedPtx delayed, AddDelays(ptx));
    RETURN_IF_ERROR(WriteFileAtomically(path, delayed.text));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NvccToolchain::Compiler> NvccToolchain::FindTools(const Options& options) {
  Compiler compiler;
  if (!options.compiler_path.empty()) {
    ASSIGN_OR_RETURN(compiler.path, FindCompiler(options.compiler_path));
  } else {
    auto found = FindCompiler("nvcc");
    if (!found.ok()) found = FindCompiler(kUsualPath);
    if (!found.ok()) {
      return absl::NotFoundError(absl::StrCat("nvcc is neither on PATH nor ", kUsualPath,
                                              "; install the CUDA toolkit or set compiler_path"));
    }
    compiler.path = *std::move(found);
  }
  auto host = FindCompiler(options.host_compiler_path.empty() ? "g++" : options.host_compiler_path);
  if (!host.ok()) return Annotate(host.status(), "nvcc needs a host compiler (host_compiler_path)");
  compiler.host_path = *std::move(host);
  ASSIGN_OR_RETURN(const std::string version, OutputOf({compiler.path, "--version"}));
  ASSIGN_OR_RETURN(const std::string host_version, OutputOf({compiler.host_path, "--version"}));
  compiler.version_line =
      absl::StrCat(VersionLine(version), "; ", host_version.substr(0, host_version.find('\n')));
  ASSIGN_OR_RETURN(const std::string codes, OutputOf({compiler.path, "--list-gpu-code"}));
  compiler.architectures = Architectures(codes);
  const std::string beside = fs::path(compiler.path).parent_path() / "cuobjdump";
  for (const std::string& name : {beside, std::string("cuobjdump")}) {
    const auto found = FindCompiler(name);
    if (found.ok() && compiler.disassembler_path.empty()) compiler.disassembler_path = *found;
  }
  compiler.binds = ToolkitBinds(compiler.path);
  return compiler;
}

absl::StatusOr<std::unique_ptr<NvccToolchain>> NvccToolchain::Create(Options options,
                                                                     Sandbox* sandbox) {
  if (options.architecture.empty()) options.architecture = kDefaultArchitecture;
  ASSIGN_OR_RETURN(Compiler compiler, FindTools(options));
  std::string fingerprint =
      absl::StrCat(compiler.version_line, " | ", absl::StrJoin(kFlags, " "), " ",
                   absl::StrJoin(options.extra_flags, " "), " | ", options.architecture,
                   " | header ", Sha256Hex(CudaHeader()).substr(0, 16),
                   compiler.disassembler_path.empty() ? "" : " | disassembled");
  ASSIGN_OR_RETURN(auto folders, BuildFolders::Create(options.work_dir));
  const bool trial = options.trial_build;
  std::unique_ptr<NvccToolchain> toolchain(
      new NvccToolchain(std::move(options), sandbox, std::move(compiler), std::move(fingerprint),
                        std::move(folders)));
  const absl::Status known = toolchain->CheckArchitecture(toolchain->options_.architecture);
  if (!known.ok()) return absl::InvalidArgumentError(known.message());
  if (trial) RETURN_IF_ERROR(toolchain->TrialBuild());
  return toolchain;
}

std::string NvccToolchain::toolkit() const {
  return absl::StrCat(compiler_.version_line, "; header ", Sha256Hex(CudaHeader()).substr(0, 8),
                      options_.extra_flags.empty() ? "" : " ",
                      absl::StrJoin(options_.extra_flags, " "));
}

absl::Status NvccToolchain::CheckArchitecture(const std::string& architecture) const {
  if (compiler_.architectures.contains(architecture)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("architecture '", architecture.substr(0, 40), "' is not known to ",
                   compiler_.path, "; it knows ", absl::StrJoin(compiler_.architectures, " ")));
}

absl::Status NvccToolchain::TrialBuild() {
  BuildRequest request;
  request.sources.set_language(v1::LANGUAGE_CUDA);
  v1::SourceFile* file = request.sources.add_files();
  file->set_path("trial.cu");
  file->set_content(
      "__global__ void trial() {}\n"
      "extern \"C\" int ksearch_run() {\n  trial<<<1, 1>>>();\n  return 0;\n}\n");
  ASSIGN_OR_RETURN(const BuildResult result, Build(request, {}));
  if (result.outcome == v1::OUTCOME_PASSED) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(compiler_.path, " with host compiler ", compiler_.host_path,
                   " cannot build an empty kernel for ", options_.architecture, ": ",
                   result.message, "\n", result.report.log_excerpt().substr(0, 1000)));
}

std::vector<std::string> NvccToolchain::Flags(const std::string& architecture) const {
  std::vector<std::string> flags(std::begin(kFlags), std::end(kFlags));
  const std::string number = architecture.substr(3);
  // One real architecture, no PTX: PTX would be compiled by the driver on another device.
  flags.push_back(absl::StrCat("-gencode=arch=compute_", number, ",code=sm_", number));
  flags.insert(flags.end(), options_.extra_flags.begin(), options_.extra_flags.end());
  return flags;
}

absl::StatusOr<BuildResult> NvccToolchain::Build(const BuildRequest& request,
                                                 std::stop_token stop) {
  const absl::Time start = sandbox_->Now();
  const absl::Time deadline = start + BuildTime(request.limits);
  const absl::Status usable = CheckSources(request.sources, request.limits, CudaSourceRules());
  if (!usable.ok()) return Refused(usable);
  const std::string& architecture =
      request.architecture.empty() ? options_.architecture : request.architecture;
  RETURN_IF_ERROR(CheckArchitecture(architecture));
  ASSIGN_OR_RETURN(const auto folder, folders_->Make(request.sources));
  RETURN_IF_ERROR(folder->WriteSource(kKernelHeaderName, request.kernel_header));
  RETURN_IF_ERROR(folder->WriteSource(kCudaHeaderName, CudaHeader()));

  SandboxSpec spec =
      CompileSpec(options_.sandbox_spec, *folder, request.limits, kCompileMemoryBytes);
  std::vector<std::string> flags = Flags(architecture);
  if (request.variant == BuildVariant::kLined) flags.push_back(kLineTableFlag);
  spec.argv = {compiler_.path, absl::StrCat("-ccbin=", compiler_.host_path)};
  spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
  spec.argv.push_back("-o");
  spec.argv.push_back(absl::StrCat("/out/", kArtifactName));
  for (std::string& path : CompiledPaths(request.sources, CudaSourceRules())) {
    spec.argv.push_back(std::move(path));
  }
  spec.binds.insert(spec.binds.end(), compiler_.binds.begin(), compiler_.binds.end());
  const bool delayed = request.variant == BuildVariant::kDelayed;
  ASSIGN_OR_RETURN(const CompilerRun run,
                   delayed ? RunWithDelays(spec, *folder, deadline, stop)
                           : RunCompiler(*sandbox_, spec, *folder, deadline, stop));

  const PtxasReport ptxas = ReadPtxasReport(run.exit.output);
  BuildResult result = JudgeCompiler(run, ptxas.other_lines, request.limits, kCompileMemoryBytes);
  ExplainEntry(kEntryParameters, &result);
  if (result.outcome == v1::OUTCOME_COMPILE_ERROR &&
      absl::StrContains(result.message, "required symbol")) {
    result.message = absl::StrCat("the entry is missing: define extern \"C\" int ", kEntrySymbol,
                                  "(", kEntryParameters, ")");
  }
  result.report.set_compiler(compiler_.version_line);
  result.report.set_flags(absl::StrJoin(flags, " "));
  result.report.set_architecture(architecture);
  std::vector<std::string> symbols;
  for (const PtxasKernel& kernel : ptxas.kernels) {
    symbols.push_back(kernel.symbol);
    *result.report.add_kernels() = kernel.facts;
  }
  if (result.outcome == v1::OUTCOME_PASSED) TakeArtifact(folder, request.limits, &result);
  if (result.outcome == v1::OUTCOME_PASSED && request.variant == BuildVariant::kPlain) {
    AddSassFacts(*folder, request, deadline, stop, symbols, &result.report);
  }
  *result.report.mutable_wall_time() = ToProto(sandbox_->Now() - start);
  return result;
}

absl::StatusOr<CompilerRun> NvccToolchain::RunWithDelays(const SandboxSpec& spec,
                                                         const BuildFolder& folder,
                                                         absl::Time deadline,
                                                         std::stop_token stop) {
  const std::string steps_folder = folder.out() + kStepsFolder;
  std::error_code error;
  fs::create_directory(steps_folder, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("mkdir ", steps_folder, ": ", error.message()));
  SandboxSpec step = spec;
  step.environment["TMPDIR"] = absl::StrCat("/out", kStepsFolder);
  step.argv.push_back("--dryrun");
  ASSIGN_OR_RETURN(CompilerRun run, RunCompiler(*sandbox_, step, folder, deadline, stop));
  if (run.timed_out || run.exit.signaled || run.exit.code != 0) return run;
  ASSIGN_OR_RETURN(const NvccSteps steps, ReadDryRun(run.exit.output));
  RETURN_IF_ERROR(folder.WriteSource(kToPtxScript, steps.to_ptx));
  RETURN_IF_ERROR(folder.WriteSource(kFromPtxScript, steps.from_ptx));
  step.argv = {"/bin/sh", absl::StrCat("/src/", kToPtxScript)};
  ASSIGN_OR_RETURN(run, RunCompiler(*sandbox_, step, folder, deadline, stop));
  if (run.timed_out || run.exit.signaled || run.exit.code != 0) return run;
  RETURN_IF_ERROR(AddDelaysIn(steps_folder));
  step.argv = {"/bin/sh", absl::StrCat("/src/", kFromPtxScript)};
  ASSIGN_OR_RETURN(run, RunCompiler(*sandbox_, step, folder, deadline, stop));
  fs::remove_all(steps_folder, error);
  return run;
}

void NvccToolchain::AddSassFacts(const BuildFolder& folder, const BuildRequest& request,
                                 absl::Time deadline, std::stop_token stop,
                                 const std::vector<std::string>& symbols, v1::BuildReport* report) {
  if (compiler_.disassembler_path.empty() || symbols.empty()) return;
  SandboxSpec spec =
      CompileSpec(options_.sandbox_spec, folder, request.limits, kCompileMemoryBytes);
  spec.argv = {compiler_.disassembler_path, "-sass", absl::StrCat("/out/", kArtifactName)};
  spec.binds.insert(spec.binds.end(), compiler_.binds.begin(), compiler_.binds.end());
  for (SandboxSpec::Bind& bind : spec.binds) bind.writable = false;  // the object is hashed already
  spec.output_bytes = kListingBytes;
  const absl::Time until = std::min(deadline, sandbox_->Now() + kListingTime);
  const auto run = RunCompiler(*sandbox_, spec, folder, until, stop);
  if (!run.ok() || run->timed_out || (run->exit.code != 0 && !run->exit.output_limit_hit)) {
    LOG(WARNING) << "msg=\"no disassembly\" tool=" << compiler_.disassembler_path << " why=\""
                 << (run.ok() ? run->exit.output.substr(0, 200) : run.status().ToString()) << "\"";
    return;
  }
  const auto functions = CountSass(run->exit.output);
  for (size_t i = 0; i < symbols.size(); ++i) {
    const auto found = functions.find(symbols[i]);
    if (found == functions.end()) continue;
    *report->mutable_kernels(static_cast<int>(i))->mutable_sass() = found->second;
  }
}

}  // namespace ksearch
