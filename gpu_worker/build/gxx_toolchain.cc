#include "gpu_worker/build/gxx_toolchain.h"

#include <filesystem>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/build/compile/compile_step.h"
#include "gpu_worker/build/source_check.h"

namespace ksearch {
namespace {

// -O3 -march=native: the candidate runs where it is built. No -ffast-math: it changes what is
// "correct". -z now: a missing symbol shows at load, not in a timed call. -ftemplate-depth and
// -fmax-errors bound the time and log of malicious sources. -Wunknown-pragmas: without a word, a
// program with "#pragma omp" would pass on one thread.
constexpr const char* kFlags[] = {"-std=c++20",
                                  "-O3",
                                  "-march=native",
                                  "-ffp-contract=fast",
                                  "-shared",
                                  "-fPIC",
                                  "-pthread",
                                  "-fvisibility=default",
                                  "-ftemplate-depth=512",
                                  "-fmax-errors=20",
                                  "-fdiagnostics-color=never",
                                  "-Wunknown-pragmas",
                                  "-I.",
                                  "-Wl,-z,now"};

// A compiler's own needs; limits.memory_bytes is the runner's. Large Eigen-like units take 2 GiB.
constexpr int64_t kCompileMemoryBytes = int64_t{4} << 30;
}  // namespace

absl::StatusOr<std::unique_ptr<GxxToolchain>> GxxToolchain::Create(Options options,
                                                                   Sandbox* sandbox) {
  Compiler compiler;
  ASSIGN_OR_RETURN(compiler.path,
                   FindCompiler(options.compiler_path.empty() ? "g++" : options.compiler_path));
  ASSIGN_OR_RETURN(const std::string version, OutputOf({compiler.path, "--version"}));
  compiler.version_line = std::vector<std::string>(absl::StrSplit(version, '\n'))[0];
  compiler.flags.assign(std::begin(kFlags), std::end(kFlags));
  compiler.flags.insert(compiler.flags.end(), options.extra_flags.begin(),
                        options.extra_flags.end());
  // "native" depends on the machine; the predefined macros show its meaning.
  std::vector<std::string> macros = {compiler.path, "-march=native", "-dM",      "-E",
                                     "-x",          "c++",           "/dev/null"};
  ASSIGN_OR_RETURN(const std::string target, OutputOf(std::move(macros)));
  std::string fingerprint =
      absl::StrCat(compiler.version_line, " | ", absl::StrJoin(compiler.flags, " "), " | target ",
                   Sha256Hex(target).substr(0, 16));
  ASSIGN_OR_RETURN(auto folders, BuildFolders::Create(options.work_dir));
  return std::unique_ptr<GxxToolchain>(new GxxToolchain(std::move(options), sandbox,
                                                        std::move(compiler), std::move(fingerprint),
                                                        std::move(folders)));
}

std::string GxxToolchain::toolkit() const {
  if (options_.extra_flags.empty()) return compiler_.version_line;
  return absl::StrCat(compiler_.version_line, " ", absl::StrJoin(options_.extra_flags, " "));
}

SandboxSpec GxxToolchain::CompilerSpec(const BuildRequest& request,
                                       const BuildFolder& folder) const {
  SandboxSpec spec =
      CompileSpec(options_.sandbox_spec, folder, request.limits, kCompileMemoryBytes);
  spec.argv = {compiler_.path};
  spec.argv.insert(spec.argv.end(), std::begin(kFlags), std::end(kFlags));
  spec.argv.push_back("-o");
  spec.argv.push_back(absl::StrCat("/out/", kArtifactName));
  for (std::string& path : CompiledPaths(request.sources, CppSourceRules())) {
    spec.argv.push_back(std::move(path));
  }
  // Last, since the position of libraries matters.
  spec.argv.insert(spec.argv.end(), options_.extra_flags.begin(), options_.extra_flags.end());
  if (!absl::StartsWith(compiler_.path, "/usr/")) {
    // <prefix>/bin/g++ needs its <prefix>/lib.
    const std::string prefix =
        std::filesystem::path(compiler_.path).parent_path().parent_path().string();
    spec.binds.push_back({.host_path = prefix, .inside_path = prefix});
  }
  return spec;
}

absl::StatusOr<BuildResult> GxxToolchain::Build(const BuildRequest& request, std::stop_token stop) {
  if (request.variant != BuildVariant::kPlain) {
    return absl::FailedPreconditionError("only CUDA programs have other builds than the plain one");
  }
  const absl::Time start = sandbox_->Now();
  const absl::Status usable = CheckSources(request.sources, request.limits, CppSourceRules());
  if (!usable.ok()) {
    BuildResult refused;
    refused.outcome = v1::OUTCOME_INVALID_SOURCE;
    refused.message = std::string(usable.message());
    return refused;
  }
  ASSIGN_OR_RETURN(const auto folder, folders_->Make(request.sources));
  RETURN_IF_ERROR(folder->WriteSource(kKernelHeaderName, request.kernel_header));
  ASSIGN_OR_RETURN(const CompilerRun run,
                   RunCompiler(*sandbox_, CompilerSpec(request, *folder), *folder,
                               start + BuildTime(request.limits), stop));
  BuildResult result = JudgeCompiler(run, run.exit.output, request.limits, kCompileMemoryBytes);
  ExplainEntry("const KsearchArgs* args", &result);
  result.report.set_compiler(compiler_.version_line);
  result.report.set_flags(absl::StrJoin(compiler_.flags, " "));
  if (result.outcome == v1::OUTCOME_PASSED) TakeArtifact(folder, request.limits, &result);
  *result.report.mutable_wall_time() = ToProto(sandbox_->Now() - start);
  return result;
}

}  // namespace ksearch
