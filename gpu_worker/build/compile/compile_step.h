#ifndef KSEARCH_GPU_WORKER_BUILD_COMPILE_COMPILE_STEP_H_
#define KSEARCH_GPU_WORKER_BUILD_COMPILE_COMPILE_STEP_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/build/compile/build_folder.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// The common parts of every compiler run: the sandbox around it, the verdict on its exit, and the
// object that it leaves. A toolchain adds the command line.

// File name of the object in the build's "out" folder, which is /out inside the sandbox.
inline constexpr char kArtifactName[] = "kernel.so";

absl::Duration BuildTime(const v1::Limits& limits);
int64_t ArtifactBytes(const v1::Limits& limits);

// `base` with /src (read-only, the working directory) and /out bound and the limits of a compiler:
// time from `limits`, `memory_bytes` for all of it and for each process's address space.
SandboxSpec CompileSpec(const SandboxSpec& base, const BuildFolder& folder,
                        const v1::Limits& limits, int64_t memory_bytes);

// Runs a command that prints its version and returns its standard output. FAILED_PRECONDITION names
// the command and quotes its output.
absl::StatusOr<std::string> OutputOf(std::vector<std::string> argv);

// Returns the real path of the compiler `name` (searched on PATH if it contains no '/'). NOT_FOUND
// names it.
absl::StatusOr<std::string> FindCompiler(const std::string& name);

struct CompilerRun {
  SandboxExit exit;
  bool timed_out = false;
};
// Runs `spec` until it ends or `deadline` (Clock::SteadyNow() scale) passes; afterwards its whole
// process tree is gone. CANCELLED after `stop`; UNAVAILABLE if the sandbox failed, or this machine
// interfered (killed from outside, disk full).
absl::StatusOr<CompilerRun> RunCompiler(Sandbox& sandbox, const SandboxSpec& spec,
                                        const BuildFolder& folder, absl::Time deadline,
                                        std::stop_token stop);

// Returns the verdict on a compiler that has ended. `log`, the part of its log to show, is digested
// into the report. PASSED only says that the compiler succeeded.
BuildResult JudgeCompiler(const CompilerRun& run, absl::string_view log, const v1::Limits& limits,
                          int64_t memory_bytes);

// If the entry has other parameters, compilers only say that it differs from its declaration: adds
// the required declaration, with these `parameters`.
void ExplainEntry(absl::string_view parameters, BuildResult* result);

// Takes the object of a build that has passed so far: the result then refers to it and keeps
// `folder`, or says what is wrong with it.
void TakeArtifact(std::shared_ptr<const BuildFolder> folder, const v1::Limits& limits,
                  BuildResult* result);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_COMPILE_COMPILE_STEP_H_
