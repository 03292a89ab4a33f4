#ifndef KSEARCH_GPU_WORKER_BUILD_BUILDER_H_
#define KSEARCH_GPU_WORKER_BUILD_BUILDER_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// What a program is built for.
enum class BuildVariant {
  kPlain,  // to be checked and timed
  // CUDA: with random delays at its barriers (cuda/ptx_delays.h), to see whether its outputs depend
  // on who comes first.
  kDelayed,
  // CUDA: with a line table and otherwise the same code, so that compute-sanitizer names lines.
  kLined,
};

struct BuildRequest {
  v1::Sources sources;
  std::string kernel_header;  // becomes ksearch_task.h beside the sources
  v1::Limits limits;
  // The architecture of the GPU to build for, e.g. "sm_90a"; empty: the toolchain's default, which
  // is processors for languages that know both.
  std::string architecture = {};
  BuildVariant variant = BuildVariant::kPlain;
};

struct BuildResult {
  // PASSED, INVALID_SOURCE, COMPILE_ERROR, COMPILE_TIMEOUT or COMPILE_LIMIT.
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string message;
  v1::BuildReport report;
  std::string artifact_path;  // absolute, a file or a folder; only if PASSED
  // How it is loaded, where not as a shared object by ksearch-runner: runner, load_time and
  // main_file; the rest is unset.
  v1::Artifact loading;
  // Keeps the artifact from being removed. Owners: this result, and those it was copied to.
  std::shared_ptr<const void> artifact_hold;
};

// What a program printed that was run once to describe a problem (JOB_KIND_DESCRIBE).
struct ProgramDescription {
  // PASSED; else as of a BuildResult whose compiler is the program itself.
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string message;
  // The last line that began with kDescriptionMark, without it; any bytes. Only if PASSED.
  std::string text;
};
inline constexpr absl::string_view kDescriptionMark = "ksearch-description: ";

// Turns sources into a program that can be loaded. Implementations: toolchains, and the cache
// around them. A compiler error, timeout or limit is an ordinary BuildResult; non-OK means this
// worker could not even try (no compiler, no disk) and the job should go elsewhere; CANCELLED after
// `stop`. Thread-safe.
class Builder {
 public:
  virtual ~Builder() = default;
  virtual absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) = 0;
  // Runs the program once where compilers run. FAILED_PRECONDITION: not in this language.
  virtual absl::StatusOr<ProgramDescription> Describe(const BuildRequest& /*request*/,
                                                      std::stop_token /*stop*/) {
    return absl::FailedPreconditionError("only programs in Python describe problems");
  }
  // Everything beside the sources that decides the artifact: compiler version, flags, target.
  virtual std::string fingerprint() const = 0;
  // The compiler by name and version, as results carry it (v1::Platform.toolkit): different where
  // two workers of a release would build other programs for the same target.
  virtual std::string toolkit() const { return fingerprint(); }
  // What BuildRequest.architecture may be; empty: it is not looked at.
  virtual std::vector<std::string> architectures() const { return {}; }
  // Whether its programs run on devices of this class, which is one that BuiltFor
  // (common/language.h) has for its language: FAILED_PRECONDITION says what is missing.
  virtual absl::Status ServesDevice(v1::DeviceClass /*device*/) const { return absl::OkStatus(); }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_BUILDER_H_
