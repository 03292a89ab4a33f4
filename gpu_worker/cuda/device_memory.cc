#include "gpu_worker/cuda/device_memory.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/cuda_error.h"

namespace ksearch {

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this != &other) {
    Reset();
    api_ = std::exchange(other.api_, nullptr);
    handle_ = std::exchange(other.handle_, 0);
    address_ = std::exchange(other.address_, 0);
    reserved_ = std::exchange(other.reserved_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

absl::StatusOr<DeviceMemory> DeviceMemory::Create(const DriverApi& api, CUdevice device,
                                                  int64_t bytes) {
  const CUmemAllocationProp properties = ShareableMemory(device);
  CUmemGenericAllocationHandle handle = 0;
  RETURN_IF_CUDA_ERROR(api, api.cuMemCreate(&handle, static_cast<size_t>(bytes), &properties, 0),
                       absl::StrCat("allocate ", bytes, " bytes of device memory"));
  DeviceMemory memory(api, handle);
  RETURN_IF_ERROR(memory.Map(device, bytes));
  return memory;
}

absl::StatusOr<DeviceMemory> DeviceMemory::Import(const DriverApi& api, CUdevice device, int fd,
                                                  int64_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  RETURN_IF_CUDA_ERROR(api,
                       api.cuMemImportFromShareableHandle(
                           &handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                       "import device memory");
  DeviceMemory memory(api, handle);
  RETURN_IF_ERROR(memory.Map(device, bytes));
  return memory;
}

absl::StatusOr<UniqueFd> DeviceMemory::Export() const {
  int fd = -1;
  RETURN_IF_CUDA_ERROR(
      *api_,
      api_->cuMemExportToShareableHandle(&fd, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      "export device memory");
  return UniqueFd(fd);
}

absl::Status DeviceMemory::Map(CUdevice device, int64_t bytes) {
  const size_t size = static_cast<size_t>(bytes);
  RETURN_IF_CUDA_ERROR(*api_, api_->cuMemAddressReserve(&address_, size, 0, 0, 0),
                       "reserve device addresses");
  reserved_ = bytes;
  RETURN_IF_CUDA_ERROR(*api_, api_->cuMemMap(address_, size, 0, handle_, 0), "map device memory");
  bytes_ = bytes;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CudaStatus(*api_, api_->cuMemSetAccess(address_, size, &access, 1),
                    "make device memory accessible");
}

// Errors do not matter here: a lost context takes its memory with it.
void DeviceMemory::Reset() {
  if (api_ == nullptr) return;
  if (bytes_ > 0) api_->cuMemUnmap(address_, static_cast<size_t>(bytes_));
  if (reserved_ > 0) api_->cuMemAddressFree(address_, static_cast<size_t>(reserved_));
  api_->cuMemRelease(handle_);
  api_ = nullptr;
  bytes_ = reserved_ = 0;
}

}  // namespace ksearch
