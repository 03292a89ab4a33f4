#ifndef KSEARCH_GPU_WORKER_VERIFIER_REQUEST_LOOP_H_
#define KSEARCH_GPU_WORKER_VERIFIER_REQUEST_LOOP_H_

#include "absl/status/status.h"
#include "gpu_worker/verifier/timing/bench.h"

namespace ksearch {

// Reads VerifierRequests from `fd`, one at a time, and answers each with progress and then a
// verdict or an infrastructure_error. Returns OK when the worker closes the connection between
// requests, or an error if the device has failed.
absl::Status ServeRequests(int fd, Bench& bench);

// For a verifier that cannot work: answers the first request with `trouble` as its
// infrastructure_error and returns `trouble`, so that the worker's next request goes to a new
// process.
absl::Status RefuseRequest(int fd, const absl::Status& trouble);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_REQUEST_LOOP_H_
