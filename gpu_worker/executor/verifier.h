#ifndef KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_H_

#include <stop_token>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Checks and times built programs. Whatever the candidate does is a verdict; an error means that
// there is none: CANCELLED after `stop`, DEADLINE_EXCEEDED after `deadline` (Clock::SteadyNow()
// scale), otherwise UNAVAILABLE. Thread-safe; one request at a time is carried out.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual absl::StatusOr<v1::Verdict> Judge(v1::VerifierRequest request, absl::Time deadline,
                                            std::stop_token stop) = 0;
  // Returns OK if the device responds, and the reason otherwise.
  virtual absl::Status Probe(absl::Time deadline, std::stop_token stop) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_H_
