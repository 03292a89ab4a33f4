#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEFERRED_WORK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEFERRED_WORK_H_

#include <vector>

#include "absl/time/time.h"

namespace ksearch {

// How long a program still had the device after its runner had said "done". The verifier's look at
// the outputs (WorkloadSession::Batch::output_check) waits for such work, so it takes longer than
// when nothing was at work: patching away the runner's wait for the device gains nothing.
// Thread-compatible.
class DeferredWork {
 public:
  // After one batch, and over the same number of calls when nothing was at work.
  void Add(absl::Duration output_check, absl::Duration idle);
  // What the median batch took longer; 0 as long as chance explains it (kMaxLateShare of a batch of
  // `batch_us`).
  double MicrosPerBatch(double batch_us) const;
  // The same, whatever explains it; may be negative.
  double RawMicrosPerBatch() const;

 private:
  std::vector<double> longer_us_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEFERRED_WORK_H_
