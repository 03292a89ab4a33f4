#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_CUDA_BUFFER_SETS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_CUDA_BUFFER_SETS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/digest.h"
#include "common/unique_fd.h"
#include "gpu_worker/cuda/device_memory.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/verifier/cuda/device_outputs.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"

namespace ksearch {

// Device memory, exported by descriptor: sets lie in groups of one allocation each, so that a
// runner maps a few of them (1.04 s for 192 sets tensor by tensor, docs/internals/benchmarks.md).
// Within it each tensor has an area of its own, a multiple of the device's granularity, with a
// guard band of kGuardBytes in front and one of at least as much up to the area's end. Trusted
// kernels do all the work: random inputs are drawn in place, each variant anew; outputs are copied
// to the verifier's own memory as soon as the calls are done, and judged there. Inputs that a
// program of the task made on the device are copied from there. Small structured inputs (offsets,
// page indices) are drawn on the host.
class CudaBufferSets final : public BufferSets {
 public:
  static constexpr int64_t kGuardBytes = 4096;

  // INVALID_ARGUMENT if there are more sets than device::kMaxCalls or more outputs than
  // device::kMaxOutputs.
  static absl::StatusOr<std::shared_ptr<BufferSets>> Create(
      std::shared_ptr<VerifierDevice> device, std::shared_ptr<const WorkloadCase> workload,
      int sets);

  int sets() const override { return sets_; }
  int64_t bytes() const override { return bytes_; }
  int64_t files() const override { return static_cast<int64_t>(groups_.size()); }
  void SetCase(std::shared_ptr<const WorkloadCase> workload) override;
  std::vector<MapPacket> Map(int sets) override;
  // Clears the L2 cache afterwards.
  void Prepare(const std::vector<FilledSet>& calls, uint64_t poison_salt) override;
  std::unique_ptr<LateInputs> Withhold(const FilledSet& call, Rng* rng) override;
  // Looks only at a few windows of each output.
  bool IsPending(int set, uint64_t poison_salt) const override;
  std::vector<CallFindings> Collect(const std::vector<FilledSet>& calls,
                                    uint64_t poison_salt) override;
  std::optional<std::string> FirstWritten(const std::vector<FilledSet>& calls,
                                          uint64_t poison_salt) override;
  void Wipe(const std::vector<FilledSet>& calls) override;
  std::optional<std::string> ChangedInput(const FilledSet& call) const override;
  std::vector<TensorComparison> Compare(int set, const SavedOutputs& oracle) const override;
  absl::StatusOr<std::shared_ptr<const SavedOutputs>> Save(int set) const override;

 private:
  // One allocation, with the sets from `first` up to the next group's first.
  struct Group {
    int first = 0;
    DeviceMemory memory;
    UniqueFd fd;
  };

  CudaBufferSets(std::shared_ptr<VerifierDevice> device,
                 std::shared_ptr<const WorkloadCase> workload, int sets)
      : device_(std::move(device)),
        workload_(std::move(workload)),
        layout_(*workload_),
        sets_(sets),
        guard_word_(RandomUint64()) {}
  absl::Status Allocate();
  // One past the last set of the group that contains `set`. Each group is twice as large as the one
  // before, so that a runner that needs few sets maps few.
  int EndOfGroup(int set) const;
  CUdeviceptr tensor_address(int set, size_t tensor) const {
    return set_addresses_[static_cast<size_t>(set)] +
           static_cast<CUdeviceptr>(area_offsets_[tensor] + kGuardBytes);
  }
  // The address of the collected copy of the outputs of `set`.
  CUdeviceptr copy_address(int set) const {
    return copies_.get() + static_cast<CUdeviceptr>(set * layout_.bytes);
  }
  device::CallList List(const std::vector<FilledSet>& calls) const;
  device::PoisonList Poison(uint64_t salt) const;
  std::string DescribeGuard(size_t tensor, int64_t position) const;
  int64_t LargestBytes(bool outputs) const;

  const std::shared_ptr<VerifierDevice> device_;
  std::shared_ptr<const WorkloadCase> workload_;
  const OutputLayout layout_;
  const int sets_;
  const uint64_t guard_word_;
  std::vector<Group> groups_;
  std::vector<CUdeviceptr> set_addresses_;
  std::vector<int64_t> area_offsets_;  // of each tensor's area within its set
  std::vector<int64_t> area_bytes_;
  int64_t set_bytes_ = 0;
  CudaBlock copies_;
  CudaBlock rows_;
  CudaBlock draws_;
  device::Tables tables_ = {};
  int64_t bytes_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_CUDA_BUFFER_SETS_H_
