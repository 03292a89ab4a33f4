#ifndef KSEARCH_COORDINATOR_SERVICE_REQUEST_CHECK_H_
#define KSEARCH_COORDINATOR_SERVICE_REQUEST_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Validates messages from a worker. INVALID_ARGUMENT names the field; CheckHello returns
// FAILED_PRECONDITION for another protocol version.
absl::Status CheckHello(const v1::WorkerHello& hello);
absl::Status CheckReport(const v1::WorkerReport& report);
absl::Status CheckResult(const v1::RecordResultRequest& request);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_REQUEST_CHECK_H_
