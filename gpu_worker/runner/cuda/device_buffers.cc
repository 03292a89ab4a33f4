#include "gpu_worker/runner/cuda/device_buffers.h"

#include <utility>

#include "common/status_macros.h"

namespace ksearch {

absl::Status DeviceBuffers::Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds) {
  if (!request.append()) {
    workspace_.reset();
    imported_.clear();
    std::string error;
    if (!blocks_.Start(request, &error)) return absl::InvalidArgumentError(error);
  }
  if (static_cast<int>(fds.size()) != request.buffers_size()) {
    return absl::InvalidArgumentError("descriptors and buffers differ in number");
  }
  for (int i = 0; i < request.buffers_size(); ++i) {
    const v1::MappedBuffer& buffer = request.buffers(i);
    if (!blocks_.Knows(buffer)) {
      return absl::InvalidArgumentError("buffer of an unknown set or slot");
    }
    ASSIGN_OR_RETURN(DeviceMemory memory,
                     DeviceMemory::Import(device_->api(), device_->handle(),
                                          fds[static_cast<size_t>(i)].get(), buffer.file_bytes()));
    blocks_.SetBuffer(buffer, memory.address() + static_cast<uint64_t>(buffer.offset()));
    imported_.push_back(std::move(memory));
  }
  return absl::OkStatus();
}

absl::Status DeviceBuffers::AllocateWorkspace(int64_t bytes) {
  if (bytes <= 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(DeviceWorkspace workspace, DeviceWorkspace::Create(*device_, bytes));
  blocks_.SetWorkspace(workspace.address(), bytes);
  workspace_ = std::move(workspace);
  return absl::OkStatus();
}

}  // namespace ksearch
