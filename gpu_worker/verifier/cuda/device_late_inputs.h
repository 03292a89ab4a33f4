#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_LATE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_LATE_INPUTS_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"

namespace ksearch {

// Late inputs in device memory that verifier and runner share. They are delivered by copies from
// the host, which another engine than that of kernels does: a runner's kernels may be at work.
class DeviceLateInputs final : public LateInputs {
 public:
  // `addresses`: of each input of `workload`, in order. Null if nothing can be withheld, or the
  // device failed.
  static std::unique_ptr<LateInputs> Withhold(std::shared_ptr<VerifierDevice> device,
                                              const WorkloadCase& workload,
                                              const std::vector<CUdeviceptr>& addresses, Rng* rng);

  void Deliver() override;

 private:
  struct Part {
    CUdeviceptr place = 0;
    std::vector<std::byte> bytes;
  };
  DeviceLateInputs(std::shared_ptr<VerifierDevice> device, std::vector<Part> parts)
      : device_(std::move(device)), parts_(std::move(parts)) {}

  const std::shared_ptr<VerifierDevice> device_;
  const std::vector<Part> parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_LATE_INPUTS_H_
