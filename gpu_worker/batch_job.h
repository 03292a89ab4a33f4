#ifndef KSEARCH_GPU_WORKER_BATCH_JOB_H_
#define KSEARCH_GPU_WORKER_BATCH_JOB_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// Returns the value of an environment variable, "" if it is not set.
using Environment = std::function<std::string(const std::string& name)>;
// Returns the time left of a Slurm job, from the output of `squeue`.
using AskSlurm = std::function<absl::StatusOr<std::string>(const std::string& job_id)>;

// Returns the remaining time, from `now` (wall clock), of the Slurm job that this process runs in,
// by SLURM_JOB_END_TIME or otherwise by asking Slurm. nullopt: it runs in no job, or the job has no
// end. An error: it runs in a job whose end cannot be determined. A clock that is wrong by hours is
// noticed if the job's start is known as well.
absl::StatusOr<std::optional<absl::Duration>> TimeLeftOfSlurmJob(const Environment& environment,
                                                                 absl::Time now,
                                                                 const AskSlurm& ask);

// Parses "[D-][HH:][MM:]SS" as squeue prints it; the inner nullopt stands for "UNLIMITED".
// INVALID_ARGUMENT: anything else.
absl::StatusOr<std::optional<absl::Duration>> ParseSlurmTimeLeft(absl::string_view text);

// Runs `squeue -h -j JOB -O TimeLeft`, for 10 s at most.
absl::StatusOr<std::string> AskSqueue(const std::string& job_id);

// Returns this process's environment.
Environment ProcessEnvironment();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BATCH_JOB_H_
