#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_BUFFERS_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_BUFFERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/unique_fd.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/device_memory.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/runner/argument_blocks.h"
#include "gpu_worker/runner/cuda/device_workspace.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The verifier's device memory for one workload, imported by descriptor, as one argument block per
// buffer set. Thread-compatible.
class DeviceBuffers {
 public:
  // `own_copies`: blocks refer to allocations of this process, each as long as its tensor.
  DeviceBuffers(std::shared_ptr<const CudaDevice> device, bool own_copies)
      : device_(std::move(device)), own_copies_(own_copies) {}

  // Without `append`, everything mapped before is unmapped first.
  absl::Status Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds);
  // Allocates scratch memory for every block (0: none); RESOURCE_EXHAUSTED if there is not enough.
  absl::Status AllocateWorkspace(int64_t bytes);

  // With own copies, copies inputs from the verifier's memory and outputs back to it. Otherwise
  // does nothing.
  CUresult CopyIn(int set) const;
  CUresult CopyOut(int set) const;

  const ArgumentBlocks& blocks() const { return blocks_; }

 private:
  struct OwnCopy {
    CudaBlock memory;
    CUdeviceptr shared = 0;  // the tensor in the verifier's memory
    int64_t bytes = 0;
    int set = 0;
    bool output = false;
  };
  absl::Status AddOwnCopy(const v1::MappedBuffer& buffer, CUdeviceptr shared);

  const std::shared_ptr<const CudaDevice> device_;
  const bool own_copies_;
  ArgumentBlocks blocks_;
  std::vector<DeviceMemory> imported_;
  std::vector<OwnCopy> copies_;
  std::optional<DeviceWorkspace> workspace_;
  CudaBlock own_workspace_;
  int workspace_fill_ = DeviceWorkspace::kPattern;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_BUFFERS_H_
