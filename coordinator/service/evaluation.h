#ifndef KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_
#define KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns the job that answers an EvaluateRequest. It equals the job that a run makes for the same
// question, so that they share results. INVALID_ARGUMENT names the field: no files, a language that
// the task does not have, an unknown workload.
absl::StatusOr<v1::JobSpec> EvaluationJob(const v1::Task& task, const v1::EvaluateRequest& request);

// Returns the job that profiles the request's program, or nullopt if the request does not ask for a
// profile or nothing was timed.
std::optional<v1::JobSpec> ProfileJob(const v1::Task& task, const v1::EvaluateRequest& request,
                                      const v1::JobResult& result);

// Returns why none of the workers can run the job: none is connected, or what one would need.
std::string NoWorkerReason(const v1::JobSpec& spec, const std::vector<v1::WorkerStatus>& workers);
// The same, with the fix.
std::string NoWorkerText(const v1::JobSpec& spec, const std::vector<v1::WorkerStatus>& workers);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_EVALUATION_H_
