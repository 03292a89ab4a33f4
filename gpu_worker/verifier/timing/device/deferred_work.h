#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEFERRED_WORK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEFERRED_WORK_H_

#include <vector>

#include "absl/time/time.h"

namespace ksearch {

// Measures how long a program's work still had the device after its runner had said "done". The
// output check (WorkloadSession::Batch::output_check) has to wait for such work, so it takes longer
// than on an idle device. So patching out the runner's wait for the device gains nothing.
// Thread-compatible.
class DeferredWork {
 public:
  // Adds the output check after one batch, and `idle`, a check of the same number of calls on an
  // idle device.
  void Add(absl::Duration output_check, absl::Duration idle);
  // How much longer the median batch's check took; 0 while it may be random variation
  // (kMaxLateShare of a batch of `batch_us`).
  double MicrosPerBatch(double batch_us) const;
  // The same without that allowance; may be negative.
  double RawMicrosPerBatch() const;

 private:
  std::vector<double> longer_us_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEFERRED_WORK_H_
