#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_LATE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_LATE_INPUTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#include "gpu_worker/verifier/tensors/late_inputs.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Late inputs in device memory that verifier and runner share. They are copied by the device's copy
// engines, which serve the verifier's context even while kernels of a runner's context are running.
// Parts are at most kMostPartBytes long, so that one takes microseconds.
class DeviceLateInputs final : public LateInputs {
 public:
  static constexpr int64_t kMostPartBytes = int64_t{64} << 10;

  // `address` returns where an input of the call begins, given its index in the workload. Null if
  // nothing can be withheld or the device failed.
  static std::unique_ptr<LateInputs> Withhold(std::shared_ptr<VerifierDevice> device,
                                              const WorkloadCase& workload,
                                              const std::function<CUdeviceptr(size_t)>& address,
                                              Rng* rng);

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
