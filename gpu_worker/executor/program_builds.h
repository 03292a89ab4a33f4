#ifndef KSEARCH_GPU_WORKER_EXECUTOR_PROGRAM_BUILDS_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_PROGRAM_BUILDS_H_

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/build/builder.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "proto/job.pb.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// All builds of a job.
struct ProgramBuilds {
  BuildResult candidate;
  // Set only if the candidate passed and the job is more than BUILD.
  BuildResult reference;
  std::optional<BuildResult> baseline;  // absent if nothing is timed, or the task has none
  std::vector<BuildResult> rivals;      // as job.rivals
  // The candidate with delays at its barriers, for a CONFIRM or EXAMINE job; absent if it could not
  // be built, as delayed_absence explains.
  std::optional<BuildResult> delayed;
  std::string delayed_absence;
  // The candidate with a line table, for the same jobs; absent if it could not be built.
  std::optional<BuildResult> lined;
};

// Builds candidate, reference, baseline and rivals side by side; if the candidate fails, the others
// are cancelled. Candidates and rivals may have a form of the task (common/program_form.h). Trusted
// programs are those that the job names (common/trusted_programs.h), built with default limits,
// each in its own language. Everything is built for `architecture` (empty: each toolchain's
// default). A candidate of a CONFIRM or EXAMINE job is also built with delays and with a line
// table, if its language supports it. A BUILD job builds only its candidate. Errors: CANCELLED
// after `stop`, FAILED_PRECONDITION without a toolchain for one of the languages, INVALID_ARGUMENT
// if the task does not contain a program that is named, TaskFault (common/task_fault.h) if a
// trusted program or a rival does not build: the message names the task and the file.
absl::StatusOr<ProgramBuilds> BuildPrograms(const Toolchains& toolchains, const v1::JobSpec& spec,
                                            const v1::Task& task, const std::string& architecture,
                                            std::stop_token stop);

// The artifacts that a verifier is told to load.
v1::Artifact ArtifactOf(const std::string& id, const BuildResult& build);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_PROGRAM_BUILDS_H_
