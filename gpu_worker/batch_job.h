#ifndef KSEARCH_GPU_WORKER_BATCH_JOB_H_
#define KSEARCH_GPU_WORKER_BATCH_JOB_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// Value of an environment variable; "" if it is not set.
using Environment = std::function<std::string(const std::string& name)>;
// What `squeue` says of a Slurm job's time left.
using AskSlurm = std::function<absl::StatusOr<std::string>(const std::string& job_id)>;

// The remaining time, from `now` (wall clock), of the Slurm job that this process runs in, by
// SLURM_JOB_END_TIME or else by asking. Nullopt: it is in none, or the job has no end. An error: it
// is in one, but nobody says when that ends. A clock that is wrong by hours is noticed where the
// job's start is known as well.
absl::StatusOr<std::optional<absl::Duration>> TimeLeftOfSlurmJob(const Environment& environment,
                                                                 absl::Time now,
                                                                 const AskSlurm& ask);

// "[D-][HH:][MM:]SS" of squeue; nullopt inside: "UNLIMITED". INVALID_ARGUMENT: anything else.
absl::StatusOr<std::optional<absl::Duration>> ParseSlurmTimeLeft(absl::string_view text);

// `squeue -h -j JOB -O TimeLeft`, for 10 s at most.
absl::StatusOr<std::string> AskSqueue(const std::string& job_id);

// This process's own.
Environment ProcessEnvironment();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BATCH_JOB_H_
