#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_HOST_COPIES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_HOST_COPIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/verifier/dialogue/run_queue_delay.h"

namespace ksearch {

// A small copy to the device and one back, which take some 50 us on an idle H200. A device's
// engines for such copies divide their time among programs in slices of about 1 ms, and a program
// that is stopped keeps its share: so while its copies are under way, these wait. To be used only
// by the thread that created it.
class HostCopies {
 public:
  static absl::StatusOr<HostCopies> Create(std::shared_ptr<const CudaDevice> device);

  // The time of both, without waits for a core. Non-OK: the device has failed.
  absl::StatusOr<absl::Duration> Time(const Clock& clock) const;

 private:
  HostCopies(std::shared_ptr<const CudaDevice> device, CudaStream stream, CudaBlock there,
             PinnedBlock here);

  std::shared_ptr<const CudaDevice> device_;
  CudaStream stream_;
  CudaBlock there_;
  PinnedBlock here_;
  RunQueueDelay delay_ = RunQueueDelay::OfThisThread();
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_HOST_COPIES_H_
