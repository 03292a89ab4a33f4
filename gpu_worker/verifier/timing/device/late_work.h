#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_LATE_WORK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_LATE_WORK_H_

#include <vector>

#include "absl/time/time.h"

namespace ksearch {

// How long a program still had the device after its runner had said "done". The verifier's look at
// the outputs (WorkloadSession::Batch::look_over) waits for such work, so it takes longer than when
// nothing was at work: patching away the runner's wait for the device gains nothing.
// Thread-compatible.
class LateWork {
 public:
  // After one GO, and over the same number of calls when nothing was at work.
  void Add(absl::Duration look_over, absl::Duration idle);
  // What the median GO took longer; 0 as long as chance explains it (kMaxLateShare of a GO of
  // `go_us`).
  double MicrosAGo(double go_us) const;
  // The same, whatever explains it; may be negative.
  double RawMicrosAGo() const;

 private:
  std::vector<double> longer_us_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_LATE_WORK_H_
