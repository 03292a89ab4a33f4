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

// What every compiler run has in common: the sandbox around it, the verdict on its end, the object
// it leaves. A toolchain adds the command line.

// File name of the object in the build's "out" folder, which is /out inside.
inline constexpr char kArtifactName[] = "kernel.so";

absl::Duration BuildTime(const v1::Limits& limits);
int64_t ArtifactBytes(const v1::Limits& limits);

// `base` with /src (read-only, the working directory) and /out bound and the limits of a compiler:
// time from `limits`, `memory_bytes` for all of it and for each process's address space.
SandboxSpec CompileSpec(const SandboxSpec& base, const BuildFolder& folder,
                        const v1::Limits& limits, int64_t memory_bytes);

// The environment of a program that is asked for its version: the standard
// output. FAILED_PRECONDITION names the command and says what it printed.
absl::StatusOr<std::string> OutputOf(std::vector<std::string> argv);

// The real path of compiler `name` (searched on PATH without a '/'). NOT_FOUND names it.
absl::StatusOr<std::string> FindCompiler(const std::string& name);

struct CompilerRun {
  SandboxExit exit;
  bool timed_out = false;
};
// Runs `spec` until it ends or `deadline` (Clock::SteadyNow() scale) passes; its whole process tree
// is gone then. CANCELLED after `stop`; UNAVAILABLE if the sandbox failed, or this machine got in
// the way (killed from outside, disk full).
absl::StatusOr<CompilerRun> RunCompiler(Sandbox& sandbox, const SandboxSpec& spec,
                                        const BuildFolder& folder, absl::Time deadline,
                                        std::stop_token stop);

// The verdict on an ended compiler whose log (`log`: what is shown of it) is digested into the
// report; PASSED only says that it succeeded.
BuildResult JudgeCompiler(const CompilerRun& run, absl::string_view log, const v1::Limits& limits,
                          int64_t memory_bytes);

// Compilers say of an entry of other parameters only that it differs from its declaration: adds
// what it has to be, with these `parameters`.
void ExplainEntry(absl::string_view parameters, BuildResult* result);

// Takes the object of a build that PASSED so far: the result points at it and keeps `folder`, or
// says what is wrong with it.
void TakeArtifact(std::shared_ptr<const BuildFolder> folder, const v1::Limits& limits,
                  BuildResult* result);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_COMPILE_COMPILE_STEP_H_
