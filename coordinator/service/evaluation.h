#ifndef KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_
#define KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The job that answers an EvaluateRequest; the same one a run would make for the same question.
// INVALID_ARGUMENT names the field: no files, a language the task does not have, unknown workload.
absl::StatusOr<v1::JobSpec> EvaluationJob(const v1::Task& task, const v1::EvaluateRequest& request);

// The job that profiles what a request had judged, if it asks for that; nullopt if it does not or
// nothing was timed.
std::optional<v1::JobSpec> ProfileJob(const v1::Task& task, const v1::EvaluateRequest& request,
                                      const v1::JobResult& result);

// What to say when no connected worker can take the job: what it would need.
std::string NoWorkerReason(const v1::JobSpec& spec);
// The same, and what to do.
std::string NoWorkerText(const v1::JobSpec& spec);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_
