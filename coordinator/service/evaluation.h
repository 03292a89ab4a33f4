#ifndef KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_
#define KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_

#include "absl/status/statusor.h"
#include "proto/job.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The job that answers an EvaluateRequest; the same one a run would make for the same question.
// INVALID_ARGUMENT names the field: no files, a language the task does not have, unknown workload.
absl::StatusOr<v1::JobSpec> EvaluationJob(const v1::Task& task, const v1::EvaluateRequest& request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_
