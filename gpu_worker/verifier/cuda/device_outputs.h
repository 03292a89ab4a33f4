#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_OUTPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_OUTPUTS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"

namespace ksearch {

// The layout of all outputs of a call in private memory: one after the other, each at a multiple of
// 256 bytes.
struct OutputLayout {
  explicit OutputLayout(const WorkloadCase& workload);
  std::vector<int64_t> offsets;
  std::vector<int64_t> output_bytes;  // of each, without padding
  int64_t bytes = 0;
};

// The outputs of one call, in memory of the verifier's context that no other process can reach. The
// memory is overwritten before it is freed.
class DeviceOutputs final : public SavedOutputs {
 public:
  // Copies from `source`, which has the same layout.
  static absl::StatusOr<std::shared_ptr<const SavedOutputs>> Copy(
      std::shared_ptr<VerifierDevice> device, const WorkloadCase& workload, CUdeviceptr source);
  ~DeviceOutputs() override;

  int64_t bytes() const override { return layout_.bytes; }
  std::vector<TensorComparison> CompareWith(const WorkloadCase& workload,
                                            const SavedOutputs& oracle) const override;
  absl::StatusOr<std::vector<std::vector<std::byte>>> ToHost() const override;
  uint64_t on_device(size_t index) const override {
    return memory_.get() + static_cast<CUdeviceptr>(layout_.offsets[index]);
  }
  absl::Status Read(size_t index, std::byte* out) const override;
  bool Equals(const SavedOutputs& other) const override;
  // Compares the outputs at `got`, which have the same layout.
  std::vector<TensorComparison> CompareAsOracle(const WorkloadCase& workload,
                                                CUdeviceptr got) const;

 private:
  DeviceOutputs(std::shared_ptr<VerifierDevice> device, OutputLayout layout, CudaBlock memory)
      : device_(std::move(device)), layout_(std::move(layout)), memory_(std::move(memory)) {}

  const std::shared_ptr<VerifierDevice> device_;
  const OutputLayout layout_;
  const CudaBlock memory_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_OUTPUTS_H_
