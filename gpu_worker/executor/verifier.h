#ifndef KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_H_

#include <stop_token>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Checks and times built programs. Whatever the candidate does is a verdict; non-OK means that no
// verdict could be had: CANCELLED after `stop`, DEADLINE_EXCEEDED after `deadline`
// (Clock::SteadyNow() scale), else UNAVAILABLE. Thread-safe; one request at a time is carried out.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual absl::StatusOr<v1::Verdict> Judge(v1::VerifierRequest request, absl::Time deadline,
                                            std::stop_token stop) = 0;
  // Whether the device answers: OK, or why not.
  virtual absl::Status Probe(absl::Time deadline, std::stop_token stop) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_H_
