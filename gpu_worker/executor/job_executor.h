#ifndef KSEARCH_GPU_WORKER_EXECUTOR_JOB_EXECUTOR_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_JOB_EXECUTOR_H_

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Reports a job's progress to the session. Called from the executing thread; must not block.
using ProgressSink = std::function<void(v1::HeldLease::State)>;

// Carries out one job: build, check, measure. Every ending of the candidate is an ordinary result;
// an error is an infrastructure failure, for which the lease is returned with the message. The
// caller fills in job_id, attempt and worker_id. Cancellation by `stop` gives CANCELLED.
// Thread-safe.
class JobExecutor {
 public:
  virtual ~JobExecutor() = default;
  virtual absl::StatusOr<v1::JobResult> Execute(const v1::JobSpec& spec, const v1::Task& task,
                                                const ProgressSink& progress,
                                                std::stop_token stop) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_JOB_EXECUTOR_H_
