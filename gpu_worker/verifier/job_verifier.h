#ifndef KSEARCH_GPU_WORKER_VERIFIER_JOB_VERIFIER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JOB_VERIFIER_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/stages/judged_job.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Carries out one VerifierRequest of any kind but BUILD. Failures of the candidate and of the
// task's own programs (OUTCOME_TASK_ERROR) are part of the verdict; non-OK is an error of the
// machine or the request. Thread-compatible.
class JobVerifier {
 public:
  JobVerifier(Bench& bench, JobProgress progress) : bench_(bench), progress_(std::move(progress)) {}

  absl::StatusOr<v1::Verdict> Verify(const v1::VerifierRequest& request);

 private:
  // What one attempt at a request passes on to the next.
  struct Tries {
    int begun = 0;
    std::optional<absl::Time> deadline;          // of all of them
    absl::Duration trusted_time = kTrustedTime;  // left for preparations that fail
    // How the candidate ended, if something else may have been the cause; empty if the cause is
    // known.
    std::string again;
    bool device_error = false;  // its process reported that the device failed
    absl::Status machine;       // non-OK: it ended because this machine failed
  };

  // The stages (stages/) of one try, in their order.
  absl::StatusOr<v1::Verdict> Judge(const v1::VerifierRequest& request, Tries* tries);

  Bench& bench_;
  const JobProgress progress_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JOB_VERIFIER_H_
