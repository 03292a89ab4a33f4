#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_OUTPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_OUTPUTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// The comparison of one tensor of the workload in host memory, by the rules of compare.h and
// suite_verdict.h.
TensorComparison CompareTensor(const WorkloadCase& workload, const TensorArgument& tensor,
                               const std::byte* got, const std::byte* oracle);

// The outputs of one call in this process's memory.
class HostOutputs final : public SavedOutputs {
 public:
  // The bytes of each output, in definition order.
  explicit HostOutputs(std::vector<std::vector<std::byte>> outputs)
      : outputs_(std::move(outputs)) {}

  int64_t bytes() const override;
  std::vector<TensorComparison> CompareWith(const WorkloadCase& workload,
                                            const SavedOutputs& oracle) const override;
  absl::StatusOr<std::vector<std::vector<std::byte>>> ToHost() const override { return outputs_; }
  const std::byte* on_host(size_t index) const override { return outputs_[index].data(); }
  absl::Status Read(size_t index, std::byte* out) const override;
  bool Equals(const SavedOutputs& other) const override;
  const std::vector<std::byte>& output(size_t index) const { return outputs_[index]; }

 private:
  const std::vector<std::vector<std::byte>> outputs_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_OUTPUTS_H_
