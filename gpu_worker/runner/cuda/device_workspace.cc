#include "gpu_worker/runner/cuda/device_workspace.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu_worker/cuda/cuda_error.h"

namespace ksearch {
namespace {

constexpr int64_t kAlignment = 256;  // as cudaMalloc aligns
constexpr int64_t kMaxBytes = int64_t{1} << 40;

}  // namespace

DeviceWorkspace& DeviceWorkspace::operator=(DeviceWorkspace&& other) noexcept {
  if (this != &other) {
    Reset();
    api_ = std::exchange(other.api_, nullptr);
    reserved_ = std::exchange(other.reserved_, 0);
    reserved_bytes_ = other.reserved_bytes_;
    handle_ = other.handle_;
    has_handle_ = std::exchange(other.has_handle_, false);
    mapped_ = std::exchange(other.mapped_, 0);
    mapped_bytes_ = other.mapped_bytes_;
    address_ = other.address_;
  }
  return *this;
}

absl::StatusOr<DeviceWorkspace> DeviceWorkspace::Create(const CudaDevice& device, int64_t bytes,
                                                        int fill) {
  if (bytes > kMaxBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a workspace of ", bytes, " bytes is beyond any limit"));
  }
  const DriverApi& api = device.api();
  const int64_t unit = device.granularity();
  const int64_t rounded = (bytes + unit - 1) / unit * unit;
  DeviceWorkspace made;
  made.api_ = &api;
  made.reserved_bytes_ = static_cast<size_t>(rounded + 2 * unit);
  RETURN_IF_CUDA_ERROR(api, api.cuMemAddressReserve(&made.reserved_, made.reserved_bytes_, 0, 0, 0),
                       "reserve a workspace's addresses");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device.handle();
  RETURN_IF_CUDA_ERROR(api,
                       api.cuMemCreate(&made.handle_, static_cast<size_t>(rounded), &properties, 0),
                       absl::StrCat("allocate a workspace of ", bytes, " bytes"));
  made.has_handle_ = true;
  const CUdeviceptr usable = made.reserved_ + static_cast<CUdeviceptr>(unit);
  RETURN_IF_CUDA_ERROR(api, api.cuMemMap(usable, static_cast<size_t>(rounded), 0, made.handle_, 0),
                       "map a workspace");
  made.mapped_ = usable;
  made.mapped_bytes_ = static_cast<size_t>(rounded);
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  RETURN_IF_CUDA_ERROR(api, api.cuMemSetAccess(usable, made.mapped_bytes_, &access, 1),
                       "open a workspace");
  RETURN_IF_CUDA_ERROR(api,
                       api.cuMemsetD8(usable, static_cast<unsigned char>(fill), made.mapped_bytes_),
                       "fill a workspace");
  made.address_ = usable + static_cast<CUdeviceptr>((rounded - bytes) / kAlignment * kAlignment);
  return made;
}

void DeviceWorkspace::Reset() {
  if (api_ == nullptr) return;
  if (mapped_ != 0) api_->cuMemUnmap(mapped_, mapped_bytes_);
  if (has_handle_) api_->cuMemRelease(handle_);
  if (reserved_ != 0) api_->cuMemAddressFree(reserved_, reserved_bytes_);
  api_ = nullptr;
  mapped_ = reserved_ = 0;
  has_handle_ = false;
}

}  // namespace ksearch
