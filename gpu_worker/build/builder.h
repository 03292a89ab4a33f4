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

// The target of a program's build.
enum class BuildVariant {
  kPlain,  // to be checked and timed
  // CUDA: with random delays at its barriers (cuda/ptx_delays.h), to show whether its outputs
  // depend on the order of its threads.
  kDelayed,
  // CUDA: with a line table but otherwise the same code, so that compute-sanitizer reports lines.
  kLined,
};

struct BuildRequest {
  v1::Sources sources;
  std::string kernel_header;  // becomes ksearch_task.h beside the sources
  v1::Limits limits;
  // The GPU architecture to build for, e.g. "sm_90a"; empty: the toolchain's default, which is
  // processors for languages that support both.
  std::string architecture = {};
  BuildVariant variant = BuildVariant::kPlain;
};

struct BuildResult {
  // PASSED, INVALID_SOURCE, COMPILE_ERROR, COMPILE_TIMEOUT or COMPILE_LIMIT.
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string message;
  v1::BuildReport report;
  std::string artifact_path;  // absolute, a file or a folder; only if PASSED
  // How to load it if it is not a shared object for ksearch-runner: runner, load_time and
  // main_file; the rest is unset.
  v1::Artifact loading;
  // Keeps the artifact from being removed. Owners: this result and its copies.
  std::shared_ptr<const void> artifact_hold;
};

// The output of a program that was run once to describe a problem (JOB_KIND_DESCRIBE).
struct ProgramDescription {
  // PASSED; otherwise as in a BuildResult, as if the program were the compiler.
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string message;
  // The last line that began with kDescriptionMark, without it; any bytes. Only if PASSED.
  std::string text;
};
inline constexpr absl::string_view kDescriptionMark = "ksearch-description: ";

// Turns sources into a loadable program. Implementations: toolchains, and the cache around them. A
// compiler error, timeout or limit is an ordinary BuildResult. An error status means that this
// worker could not even try (no compiler, no disk) and that the job should go elsewhere; CANCELLED
// after `stop`. Thread-safe.
class Builder {
 public:
  virtual ~Builder() = default;
  virtual absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) = 0;
  // Runs the program once in the compilers' sandbox. FAILED_PRECONDITION: not supported for this
  // language.
  virtual absl::StatusOr<ProgramDescription> Describe(const BuildRequest& /*request*/,
                                                      std::stop_token /*stop*/) {
    return absl::FailedPreconditionError("only programs in Python describe problems");
  }
  // Everything besides the sources that determines the artifact: compiler version, flags, target.
  virtual std::string fingerprint() const = 0;
  // The compiler by name and version, as in results (v1::Platform.toolkit). It differs between two
  // workers of a release if they would build different programs for the same target.
  virtual std::string toolkit() const { return fingerprint(); }
  // The values that BuildRequest.architecture may have; empty: it is not checked.
  virtual std::vector<std::string> architectures() const { return {}; }
  // Returns OK if its programs run on devices of this class, which must be one that BuiltFor
  // (common/language.h) has for its language. FAILED_PRECONDITION says what is missing.
  virtual absl::Status ServesDevice(v1::DeviceClass /*device*/) const { return absl::OkStatus(); }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_BUILDER_H_
