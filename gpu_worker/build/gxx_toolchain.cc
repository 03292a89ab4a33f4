#include "gpu_worker/build/gxx_toolchain.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/build/diagnostics.h"
#include "gpu_worker/build/source_check.h"

namespace ksearch {
namespace {

constexpr char kArtifactName[] = "kernel.so";
constexpr char kFolderPrefix[] = "build-";

// -O3 -march=native: the candidate runs where it is built. No -ffast-math: it changes what is
// "correct". -z now: a missing symbol shows at load, not in a timed call. -ftemplate-depth and
// -fmax-errors bound what a bomb can do to time and log.
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
                                  "-I.",
                                  "-Wl,-z,now"};

// A compiler's own needs; limits.memory_bytes is the runner's. Large Eigen-like units take 2 GiB.
constexpr int64_t kCompileMemoryBytes = int64_t{4} << 30;
// The compiler's log before it is digested.
constexpr int64_t kCompileOutputBytes = int64_t{1} << 20;

absl::Duration BuildTime(const v1::Limits& limits) {
  const absl::Duration time = FromProto(limits.build_time());
  return time > absl::ZeroDuration() ? time : kDefaultBuildTime;
}

int64_t ArtifactBytes(const v1::Limits& limits) {
  return limits.artifact_bytes() > 0 ? limits.artifact_bytes() : kDefaultArtifactBytes;
}

absl::Status WriteSource(const std::string& folder, absl::string_view path,
                         absl::string_view content) {
  const std::filesystem::path target = std::filesystem::path(folder) / std::string(path);
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  const UniqueFd fd(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("create ", target.string()));
  while (!content.empty()) {
    const ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(errno, absl::StrCat("write ", target.string()));
    content.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

// The compiler wrote into this folder: what lies there may be anything.
absl::StatusOr<std::string> ReadArtifact(const std::string& path, int64_t max_bytes) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) {
    return absl::NotFoundError("the compiler made no object");
  }
  if (!S_ISREG(status.st_mode)) return absl::NotFoundError("the object is not a regular file");
  return ReadFile(path, max_bytes);
}

BuildResult Ended(v1::Outcome outcome, std::string message) {
  BuildResult result;
  result.outcome = outcome;
  result.message = std::move(message);
  return result;
}

// A line of a compiler's log that repeats the source or speaks of a place in it: "  12 |  code",
// "kernel.cpp:12:3: error: ...".
bool IsAboutSource(absl::string_view line) {
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(line);
  while (!rest.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest[0]))) {
    rest.remove_prefix(1);
  }
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(rest), "|")) return true;
  const size_t colon = line.find(':');
  return colon != absl::string_view::npos && colon + 1 < line.size() &&
         absl::ascii_isdigit(static_cast<unsigned char>(line[colon + 1]));
}

// Whether compiler, assembler or linker say `words` of themselves. They hold spaces, so that no
// name in the sources can be taken for them.
bool ToolSays(absl::string_view log, absl::string_view words) {
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StrContains(line, words) && !IsAboutSource(line)) return true;
  }
  return false;
}

bool RanOutOfMemory(absl::string_view log) {
  return ToolSays(log, "out of memory allocating") || ToolSays(log, "virtual memory exhausted") ||
         ToolSays(log, "an instance of 'std::bad_alloc'");
}

// What this machine did to a compiler that failed and was neither out of its limits nor stopped by
// us: no verdict on the sources.
absl::Status MachineTrouble(const SandboxExit& exit, const SandboxSpec& spec,
                            const std::string& folder) {
  const bool killed = (exit.signaled && exit.code == SIGKILL) ||
                      ToolSays(exit.output, "Killed signal terminated program");
  if (killed && !exit.memory_limit_hit && !exit.output_limit_hit) {
    return absl::UnavailableError(
        "the compiler was killed from outside; is this machine short of memory?");
  }
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (exit.code != 0 && ToolSays(exit.output, "No space left on device") && !error &&
      space.available < static_cast<uintmax_t>(spec.file_bytes)) {
    return absl::UnavailableError(absl::StrCat("the disk of ", folder, " is full"));
  }
  return absl::OkStatus();
}

// Judges an ended compiler; PASSED is decided by the artifact.
BuildResult Judge(const SandboxExit& exit, bool timed_out, const BuildRequest& request,
                  const CompilerLog& log) {
  if (timed_out) {
    return Ended(v1::OUTCOME_COMPILE_TIMEOUT,
                 absl::StrCat("the compiler did not end within ",
                              absl::FormatDuration(BuildTime(request.limits))));
  }
  if (exit.output_limit_hit) {
    return Ended(v1::OUTCOME_COMPILE_LIMIT, "the compiler printed without end and was stopped");
  }
  const bool failed = exit.signaled || exit.code != 0;
  if (exit.memory_limit_hit || (failed && RanOutOfMemory(exit.output))) {
    return Ended(v1::OUTCOME_COMPILE_LIMIT,
                 absl::StrCat("the compiler needed more than ", kCompileMemoryBytes >> 20, " MiB"));
  }
  if (failed && (ToolSays(exit.output, "File size limit exceeded") ||
                 ToolSays(exit.output, "No space left on device") ||
                 ToolSays(exit.output, "file truncated"))) {
    return Ended(v1::OUTCOME_COMPILE_LIMIT, "the object or a temporary file became too large");
  }
  if (failed) {
    if (!log.diagnostics.empty()) {
      const v1::Diagnostic& first = log.diagnostics[0];
      return Ended(
          v1::OUTCOME_COMPILE_ERROR,
          absl::StrCat(first.file(), first.file().empty() ? "" : ":",
                       first.line() > 0 ? absl::StrCat(first.line(), ": ") : " ", first.message()));
    }
    return Ended(
        v1::OUTCOME_COMPILE_ERROR,
        absl::StrCat("the compiler ended with ", exit.signaled ? "signal " : "status ", exit.code));
  }
  return Ended(v1::OUTCOME_PASSED, "");
}

// Removes the folder at the end of a scope.
class FolderRemover {
 public:
  explicit FolderRemover(std::string path) : path_(std::move(path)) {}
  ~FolderRemover() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

 private:
  const std::string path_;
};

absl::StatusOr<std::string> OutputOf(std::vector<std::string> argv) {
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}};
  const std::string command = absl::StrJoin(options.argv, " ");
  ASSIGN_OR_RETURN(const CommandOutput output, RunCommand(std::move(options), absl::Seconds(30)));
  if (output.timed_out || output.exit.signaled || output.exit.code != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("`", command, "` failed: ", output.err.substr(0, 500)));
  }
  return output.out;
}

void RemoveAbandonedFolders(const std::string& work_dir) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(work_dir, error)) {
    const std::string name = entry.path().filename();
    int pid = 0;
    if (!absl::StartsWith(name, kFolderPrefix) ||
        !absl::SimpleAtoi(name.substr(sizeof kFolderPrefix - 1), &pid) || pid == ::getpid() ||
        ::access(absl::StrCat("/proc/", pid).c_str(), F_OK) == 0) {
      continue;
    }
    std::error_code ignored;
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<GxxToolchain>> GxxToolchain::Create(Options options,
                                                                   Sandbox* sandbox) {
  Compiler compiler;
  ASSIGN_OR_RETURN(const std::string found,
                   FindOnPath(options.compiler_path.empty() ? "g++" : options.compiler_path));
  std::error_code error;
  compiler.path = std::filesystem::canonical(found, error);
  if (error) return absl::NotFoundError(absl::StrCat("compiler ", found, ": ", error.message()));
  ASSIGN_OR_RETURN(const std::string version, OutputOf({compiler.path, "--version"}));
  compiler.version_line = std::vector<std::string>(absl::StrSplit(version, '\n'))[0];
  compiler.flags.assign(std::begin(kFlags), std::end(kFlags));
  compiler.flags.insert(compiler.flags.end(), options.extra_flags.begin(),
                        options.extra_flags.end());
  // "native" means another thing on another machine; the predefined macros tell which.
  std::vector<std::string> macros = {compiler.path, "-march=native", "-dM",      "-E",
                                     "-x",          "c++",           "/dev/null"};
  ASSIGN_OR_RETURN(const std::string target, OutputOf(std::move(macros)));
  std::string fingerprint =
      absl::StrCat(compiler.version_line, " | ", absl::StrJoin(compiler.flags, " "), " | target ",
                   Sha256Hex(target).substr(0, 16));
  std::filesystem::create_directories(options.work_dir, error);
  RemoveAbandonedFolders(options.work_dir);
  std::unique_ptr<GxxToolchain> toolchain(
      new GxxToolchain(std::move(options), sandbox, std::move(compiler), std::move(fingerprint)));
  std::filesystem::create_directories(toolchain->folder_, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("mkdir ", toolchain->folder_, ": ", error.message()));
  }
  return toolchain;
}

GxxToolchain::GxxToolchain(Options options, Sandbox* sandbox, Compiler compiler,
                           std::string fingerprint)
    : options_(std::move(options)),
      sandbox_(sandbox),
      compiler_(std::move(compiler)),
      fingerprint_(std::move(fingerprint)),
      folder_(absl::StrCat(std::filesystem::absolute(options_.work_dir).string(), "/",
                           kFolderPrefix, ::getpid(), "-", RandomHex(4))) {}

GxxToolchain::~GxxToolchain() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

SandboxSpec GxxToolchain::CompileSpec(const BuildRequest& request,
                                      const std::string& folder) const {
  SandboxSpec spec = options_.sandbox_spec;
  spec.argv = {compiler_.path};
  spec.argv.insert(spec.argv.end(), std::begin(kFlags), std::end(kFlags));
  spec.argv.push_back("-o");
  spec.argv.push_back(absl::StrCat("/out/", kArtifactName));
  for (std::string& path : CompiledPaths(request.sources, CppSourceRules())) {
    spec.argv.push_back(std::move(path));
  }
  // Last, since libraries count from where they stand.
  spec.argv.insert(spec.argv.end(), options_.extra_flags.begin(), options_.extra_flags.end());
  spec.environment = {{"LC_ALL", "C"}, {"TMPDIR", "/tmp"}};
  spec.binds.push_back({.host_path = folder + "/src", .inside_path = "/src"});
  spec.binds.push_back({.host_path = folder + "/out", .inside_path = "/out", .writable = true});
  if (!absl::StartsWith(compiler_.path, "/usr/")) {
    // <prefix>/bin/g++ needs its <prefix>/lib.
    const std::string prefix =
        std::filesystem::path(compiler_.path).parent_path().parent_path().string();
    spec.binds.push_back({.host_path = prefix, .inside_path = prefix});
  }
  spec.working_directory = "/src";
  spec.cpu_time = BuildTime(request.limits) + absl::Seconds(5);
  spec.memory_bytes = kCompileMemoryBytes;
  spec.address_space_bytes = kCompileMemoryBytes;
  // Temporary objects may be larger than what is left after linking.
  spec.file_bytes = 2 * ArtifactBytes(request.limits) + (int64_t{16} << 20);
  spec.output_bytes = kCompileOutputBytes;
  return spec;
}

absl::StatusOr<BuildResult> GxxToolchain::Build(const BuildRequest& request, std::stop_token stop) {
  const absl::Time start = Clock::Real().SteadyNow();
  const absl::Status usable = CheckSources(request.sources, request.limits, CppSourceRules());
  if (!usable.ok()) return Ended(v1::OUTCOME_INVALID_SOURCE, std::string(usable.message()));

  const std::string folder = absl::StrCat(folder_, "/", next_build_++);
  for (const char* part : {"", "/src", "/out"}) {
    if (::mkdir((folder + part).c_str(), 0700) != 0) {
      return ErrnoStatus(errno, absl::StrCat("mkdir ", folder, part));
    }
  }
  // Removed with the last result that points at the artifact.
  const auto hold = std::make_shared<FolderRemover>(folder);
  RETURN_IF_ERROR(WriteSource(folder + "/src", kKernelHeaderName, request.kernel_header));
  for (const v1::SourceFile& file : request.sources.files()) {
    RETURN_IF_ERROR(WriteSource(folder + "/src", file.path(), file.content()));
  }
  const SandboxSpec spec = CompileSpec(request, folder);
  ASSIGN_OR_RETURN(const auto process, sandbox_->Launch(spec));
  std::optional<SandboxExit> exit;
  bool timed_out = false;
  {
    const std::stop_callback on_stop(stop, [&process] { process->Kill(); });
    exit = process->Wait(start + BuildTime(request.limits));
    if (!exit.has_value()) {
      timed_out = true;
      process->Kill();
      exit = process->Wait(absl::InfiniteFuture());
    }
  }
  if (stop.stop_requested()) return absl::CancelledError("build cancelled");
  if (!exit.has_value() || exit->setup_failed) {
    return absl::UnavailableError(absl::StrCat("the sandbox for the compiler failed: ",
                                               exit.has_value() ? exit->output : "no exit"));
  }
  if (!timed_out) RETURN_IF_ERROR(MachineTrouble(*exit, spec, folder));
  CompilerLog log = DigestCompilerLog(exit->output);
  BuildResult result = Judge(*exit, timed_out, request, log);
  result.report.set_compiler(compiler_.version_line);
  result.report.set_flags(absl::StrJoin(compiler_.flags, " "));
  for (v1::Diagnostic& diagnostic : log.diagnostics) {
    *result.report.add_diagnostics() = std::move(diagnostic);
  }
  result.report.set_log_excerpt(std::move(log.excerpt));
  if (result.outcome == v1::OUTCOME_PASSED) {
    const std::string path = absl::StrCat(folder, "/out/", kArtifactName);
    const auto artifact = ReadArtifact(path, ArtifactBytes(request.limits));
    if (!artifact.ok()) {
      result.outcome = absl::IsResourceExhausted(artifact.status()) ? v1::OUTCOME_COMPILE_LIMIT
                                                                    : v1::OUTCOME_COMPILE_ERROR;
      result.message =
          absl::IsResourceExhausted(artifact.status())
              ? absl::StrCat("the object has more than ", ArtifactBytes(request.limits), " bytes")
              : std::string(artifact.status().message());
    } else {
      result.report.set_artifact_bytes(static_cast<int64_t>(artifact->size()));
      result.report.set_artifact_sha256(Sha256Hex(*artifact));
      result.artifact_path = path;
      result.artifact_hold = hold;
    }
  }
  *result.report.mutable_wall_time() = ToProto(Clock::Real().SteadyNow() - start);
  return result;
}

}  // namespace ksearch
