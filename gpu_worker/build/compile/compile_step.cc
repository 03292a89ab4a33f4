#include "gpu_worker/build/compile/compile_step.h"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/disk_space.h"
#include "common/kernel_header.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/build/diagnostics.h"

namespace ksearch {
namespace {

constexpr int kCompilerNiceness = 10;
constexpr absl::Duration kTrialTime = absl::Seconds(10);
// The compiler's log before it is digested.
constexpr int64_t kCompileOutputBytes = int64_t{1} << 20;

// The compiler wrote into this folder: it may contain anything.
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

// A line of a compiler's log that repeats the source or names a place in it: "  12 |  code",
// "kernel.cpp:12:3: error: ...", "kernel.cu(12): error: ...".
bool IsAboutSource(absl::string_view line) {
  // nvcc indents quotations; no tool indents its own messages.
  if (absl::StartsWith(line, " ")) return true;
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(line);
  while (!rest.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest[0]))) {
    rest.remove_prefix(1);
  }
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(rest), "|")) return true;
  const size_t mark = line.find_first_of(":(");
  return mark != absl::string_view::npos && mark + 1 < line.size() &&
         absl::ascii_isdigit(static_cast<unsigned char>(line[mark + 1]));
}

// Returns true if compiler, assembler or linker print `words` as their own message. The words
// contain spaces, so that no name in the sources can be mistaken for them.
bool ToolSays(absl::string_view log, absl::string_view words) {
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StrContains(line, words) && !IsAboutSource(line)) return true;
  }
  return false;
}

bool RanOutOfMemory(absl::string_view log) {
  return ToolSays(log, "out of memory allocating") || ToolSays(log, "virtual memory exhausted") ||
         ToolSays(log, "an instance of 'std::bad_alloc'") ||
         ToolSays(log, "LLVM ERROR: out of memory");
}

// Faults of this machine in a compiler that failed, and was neither over its limits nor stopped by
// the worker: no verdict on the sources. Exit status and the kernel's counters decide: the output
// may contain the sources' words, for example through an assembler's .print.
absl::Status MachineTrouble(const SandboxExit& exit, const SandboxSpec& spec,
                            const std::string& folder) {
  const bool failed = exit.signaled || exit.code != 0;
  // A batch system that takes its node back sends its signal to every process of the job; no
  // compiler sends these to itself.
  if (exit.signaled && (exit.code == SIGTERM || exit.code == SIGINT || exit.code == SIGHUP)) {
    return absl::UnavailableError(
        absl::StrCat("the compiler was stopped from outside with signal ", exit.code));
  }
  const bool killed =
      (exit.signaled && exit.code == SIGKILL) || (failed && exit.machine_out_of_memory);
  if (killed && !exit.memory_limit_hit && !exit.output_limit_hit) {
    return absl::UnavailableError(
        "the compiler was killed from outside; is this machine short of memory?");
  }
  // The words alone would prove nothing, so look for a full disk.
  if (exit.code != 0 && ToolSays(exit.output, "No space left on device")) {
    const absl::StatusOr<DiskSpace> disk = DiskSpaceOf(folder);
    if (disk.ok() && disk->free_bytes < spec.file_bytes) {
      return absl::UnavailableError(absl::StrCat("the disk of ", folder, " is full"));
    }
  }
  return absl::OkStatus();
}

// Returns true if a tool says that it could not start another. The words alone prove nothing.
bool LackedProcesses(absl::string_view log) {
  return ToolSays(log, "Resource temporarily unavailable") ||
         ToolSays(log, "Cannot allocate memory");
}

// UNAVAILABLE if this machine can start nothing else in such a sandbox either.
absl::Status TryProcess(Sandbox& sandbox, SandboxSpec spec) {
  spec.argv = {"/usr/bin/true"};
  const auto process = sandbox.Launch(spec);
  std::optional<SandboxExit> exit;
  if (process.ok()) exit = (*process)->Wait(sandbox.Now() + kTrialTime);
  if (exit.has_value() && !exit->setup_failed && !exit->signaled && exit->code == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      "the compiler could not start its parts; has this machine too many processes?");
}

// Judges an ended compiler; PASSED is decided by the artifact.
BuildResult Judge(const CompilerRun& run, const v1::Limits& limits, int64_t memory_bytes,
                  const CompilerLog& log) {
  const SandboxExit& exit = run.exit;
  if (run.timed_out) {
    return Ended(
        v1::OUTCOME_COMPILE_TIMEOUT,
        absl::StrCat("the compiler did not end within ", absl::FormatDuration(BuildTime(limits))));
  }
  if (exit.output_limit_hit) {
    return Ended(v1::OUTCOME_COMPILE_LIMIT, "the compiler printed without end and was stopped");
  }
  const bool failed = exit.signaled || exit.code != 0;
  if (exit.memory_limit_hit || (failed && RanOutOfMemory(exit.output))) {
    return Ended(v1::OUTCOME_COMPILE_LIMIT,
                 absl::StrCat("the compiler needed more than ", memory_bytes >> 20, " MiB"));
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

}  // namespace

absl::Duration BuildTime(const v1::Limits& limits) {
  const absl::Duration time = FromProto(limits.build_time());
  return time > absl::ZeroDuration() ? time : kDefaultBuildTime;
}

int64_t ArtifactBytes(const v1::Limits& limits) {
  return limits.artifact_bytes() > 0 ? limits.artifact_bytes() : kDefaultArtifactBytes;
}

SandboxSpec CompileSpec(const SandboxSpec& base, const BuildFolder& folder,
                        const v1::Limits& limits, int64_t memory_bytes) {
  SandboxSpec spec = base;
  spec.environment = {
      {"LC_ALL", "C"}, {"TMPDIR", "/tmp"}, {"SOURCE_DATE_EPOCH", absl::StrCat(kSourceTime)}};
  spec.binds.push_back({.host_path = folder.src(), .inside_path = "/src"});
  spec.binds.push_back({.host_path = folder.out(), .inside_path = "/out", .writable = true});
  spec.working_directory = "/src";
  // A measurement in progress must get a core at once.
  spec.niceness = kCompilerNiceness;
  spec.cpu_time = BuildTime(limits) * kCpuTimePerWallTime;
  spec.memory_bytes = memory_bytes;
  spec.address_space_bytes = memory_bytes;
  // Temporary objects may be larger than what is left after linking.
  spec.file_bytes = 2 * ArtifactBytes(limits) + (int64_t{16} << 20);
  spec.output_bytes = kCompileOutputBytes;
  return spec;
}

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

absl::StatusOr<std::string> FindCompiler(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string found, FindOnPath(name));
  std::error_code error;
  const std::string path = std::filesystem::canonical(found, error);
  if (error) return absl::NotFoundError(absl::StrCat("compiler ", found, ": ", error.message()));
  return path;
}

absl::StatusOr<CompilerRun> RunCompiler(Sandbox& sandbox, const SandboxSpec& spec,
                                        const BuildFolder& folder, absl::Time deadline,
                                        std::stop_token stop) {
  ASSIGN_OR_RETURN(const auto process, sandbox.Launch(spec));
  CompilerRun run;
  std::optional<SandboxExit> exit;
  {
    const std::stop_callback on_stop(stop, [&process] { process->Kill(); });
    exit = process->Wait(deadline);
    if (!exit.has_value()) {
      run.timed_out = true;
      process->Kill();
      exit = process->Wait(absl::InfiniteFuture());
    }
  }
  if (stop.stop_requested()) return absl::CancelledError("build cancelled");
  if (!exit.has_value() || exit->setup_failed) {
    return absl::UnavailableError(absl::StrCat("the sandbox for the compiler failed: ",
                                               exit.has_value() ? exit->output : "no exit"));
  }
  if (!run.timed_out) {
    RETURN_IF_ERROR(MachineTrouble(*exit, spec, folder.path()));
    if (exit->code != 0 && LackedProcesses(exit->output))
      RETURN_IF_ERROR(TryProcess(sandbox, spec));
  }
  run.exit = *std::move(exit);
  return run;
}

BuildResult JudgeCompiler(const CompilerRun& run, absl::string_view log, const v1::Limits& limits,
                          int64_t memory_bytes) {
  CompilerLog digest = DigestCompilerLog(log);
  BuildResult result = Judge(run, limits, memory_bytes, digest);
  for (v1::Diagnostic& diagnostic : digest.diagnostics) {
    *result.report.add_diagnostics() = std::move(diagnostic);
  }
  result.report.set_log_excerpt(std::move(digest.excerpt));
  return result;
}

void ExplainEntry(absl::string_view parameters, BuildResult* result) {
  if (result->outcome != v1::OUTCOME_COMPILE_ERROR) return;
  if (absl::StrContains(result->message, kWorkspaceSymbol)) {
    absl::StrAppend(&result->message, "; it must be: extern \"C\" int64_t ", kWorkspaceSymbol,
                    "(const KsearchArgs* args)");
  } else if (absl::StrContains(result->message, kEntrySymbol) ||
             absl::StrContains(result->message, "distinguished by return type alone")) {
    absl::StrAppend(&result->message, "; the entry must be: extern \"C\" int ", kEntrySymbol, "(",
                    parameters, ")");
  }
}

void TakeArtifact(std::shared_ptr<const BuildFolder> folder, const v1::Limits& limits,
                  BuildResult* result) {
  const std::string path = absl::StrCat(folder->out(), "/", kArtifactName);
  const auto artifact = ReadArtifact(path, ArtifactBytes(limits));
  if (artifact.ok()) {
    result->report.set_artifact_bytes(static_cast<int64_t>(artifact->size()));
    result->report.set_artifact_sha256(Sha256Hex(*artifact));
    result->artifact_path = path;
    result->artifact_hold = std::move(folder);
    return;
  }
  const bool too_large = absl::IsResourceExhausted(artifact.status());
  result->outcome = too_large ? v1::OUTCOME_COMPILE_LIMIT : v1::OUTCOME_COMPILE_ERROR;
  result->message = too_large
                        ? absl::StrCat("the object has more than ", ArtifactBytes(limits), " bytes")
                        : std::string(artifact.status().message());
}

}  // namespace ksearch
