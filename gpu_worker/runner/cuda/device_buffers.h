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
#include "gpu_worker/runner/argument_blocks.h"
#include "gpu_worker/runner/cuda/device_workspace.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The verifier's device memory for one workload, imported by descriptor, as one argument block per
// buffer set. Thread-compatible.
class DeviceBuffers {
 public:
  explicit DeviceBuffers(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}

  // Without `append` everything mapped before goes first.
  absl::Status Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds);
  // Scratch memory for every block (0: none); RESOURCE_EXHAUSTED if there is not enough.
  absl::Status AllocateWorkspace(int64_t bytes);

  const ArgumentBlocks& blocks() const { return blocks_; }

 private:
  const std::shared_ptr<const CudaDevice> device_;
  ArgumentBlocks blocks_;
  std::vector<DeviceMemory> imported_;
  std::optional<DeviceWorkspace> workspace_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_BUFFERS_H_
