#include "gpu_worker/runner/cuda/device_buffers.h"

#include <utility>

#include "common/status_macros.h"

namespace ksearch {

absl::Status DeviceBuffers::Map(const v1::MapRequest& request, const std::vector<UniqueFd>& fds) {
  std::string error;
  if (!request.append()) {
    workspace_.reset();
    own_workspace_ = CudaBlock();
    copies_.clear();
    imported_.clear();
    workspace_fill_ =
        request.workspace_fill() == 0 ? DeviceWorkspace::kPattern : request.workspace_fill();
    if (!blocks_.Start(request, &error)) return absl::InvalidArgumentError(error);
  }
  if (!blocks_.Fits(request, fds.size(), &error)) return absl::InvalidArgumentError(error);
  const size_t first = imported_.size();
  for (size_t i = 0; i < fds.size(); ++i) {
    ASSIGN_OR_RETURN(DeviceMemory memory,
                     DeviceMemory::Import(device_->api(), device_->handle(), fds[i].get(),
                                          request.memory_bytes(static_cast<int>(i))));
    imported_.push_back(std::move(memory));
  }
  for (const v1::MappedBuffer& buffer : request.buffers()) {
    const CUdeviceptr tensor = imported_[first + static_cast<size_t>(buffer.memory())].address() +
                               static_cast<uint64_t>(buffer.offset());
    blocks_.SetBuffer(buffer, tensor);
    if (own_copies_ && buffer.tensor_bytes() > 0) RETURN_IF_ERROR(AddOwnCopy(buffer, tensor));
  }
  return absl::OkStatus();
}

absl::Status DeviceBuffers::AddOwnCopy(const v1::MappedBuffer& buffer, CUdeviceptr shared) {
  OwnCopy copy;
  ASSIGN_OR_RETURN(copy.memory, AllocateCudaBlock(device_->api(), buffer.tensor_bytes()));
  copy.shared = shared;
  copy.bytes = buffer.tensor_bytes();
  copy.set = buffer.set();
  copy.output = buffer.output();
  blocks_.SetBuffer(buffer, copy.memory.get());
  copies_.push_back(std::move(copy));
  return absl::OkStatus();
}

CUresult DeviceBuffers::CopyIn(int set) const {
  for (const OwnCopy& copy : copies_) {
    if (copy.set != set || copy.output) continue;
    const CUresult result = device_->api().cuMemcpyDtoD(copy.memory.get(), copy.shared,
                                                        static_cast<size_t>(copy.bytes));
    if (result != CUDA_SUCCESS) return result;
  }
  return device_->api().cuCtxSynchronize();
}

CUresult DeviceBuffers::CopyOut(int set) const {
  for (const OwnCopy& copy : copies_) {
    if (copy.set != set) continue;
    // Inputs, too: the verifier checks whether they were changed.
    const CUresult result = device_->api().cuMemcpyDtoD(copy.shared, copy.memory.get(),
                                                        static_cast<size_t>(copy.bytes));
    if (result != CUDA_SUCCESS) return result;
  }
  return device_->api().cuCtxSynchronize();
}

absl::Status DeviceBuffers::AllocateWorkspace(int64_t bytes) {
  if (bytes <= 0) return absl::OkStatus();
  if (own_copies_) {
    ASSIGN_OR_RETURN(own_workspace_, AllocateCudaBlock(device_->api(), bytes));
    blocks_.SetWorkspace(own_workspace_.get(), bytes);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(DeviceWorkspace workspace,
                   DeviceWorkspace::Create(*device_, bytes, workspace_fill_));
  blocks_.SetWorkspace(workspace.address(), bytes);
  workspace_ = std::move(workspace);
  return absl::OkStatus();
}

}  // namespace ksearch
