#include "gpu_worker/cuda/cuda_device.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"

namespace ksearch {
namespace {

struct ListedGpu {
  CUdevice device = 0;
  std::string uuid;
};

absl::StatusOr<std::vector<ListedGpu>> ListGpus(const DriverApi& api) {
  int count = 0;
  RETURN_IF_CUDA_ERROR(api, api.cuDeviceGetCount(&count), "count GPUs");
  std::vector<ListedGpu> gpus;
  for (int i = 0; i < count; ++i) {
    ListedGpu gpu;
    CUuuid uuid;
    RETURN_IF_CUDA_ERROR(api, api.cuDeviceGet(&gpu.device, i), "find a GPU");
    RETURN_IF_CUDA_ERROR(api, api.cuDeviceGetUuid(&uuid, gpu.device), "read a GPU's UUID");
    gpu.uuid = GpuUuidText(uuid);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

absl::Status NoSuchGpu(absl::string_view uuid, const std::vector<ListedGpu>& gpus) {
  const std::string there = absl::StrJoin(
      gpus, ", ", [](std::string* out, const ListedGpu& gpu) { absl::StrAppend(out, gpu.uuid); });
  return absl::NotFoundError(
      absl::StrCat(uuid.empty() ? "the CUDA driver shows no GPU" : absl::StrCat("no GPU ", uuid),
                   there.empty() ? " (none is visible: see CUDA_VISIBLE_DEVICES and /dev/nvidia*)"
                                 : absl::StrCat("; visible: ", there)));
}

}  // namespace

std::string GpuUuidText(const CUuuid& uuid) {
  const std::string hex = absl::BytesToHexString(absl::string_view(uuid.bytes, sizeof(uuid.bytes)));
  return absl::StrCat("GPU-", hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

CUmemAllocationProp ShareableMemory(CUdevice device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

absl::StatusOr<std::shared_ptr<const CudaDevice>> CudaDevice::Open(
    std::shared_ptr<const DriverApi> api, absl::string_view uuid) {
  ASSIGN_OR_RETURN(const std::vector<ListedGpu> gpus, ListGpus(*api));
  const ListedGpu* found = nullptr;
  for (const ListedGpu& gpu : gpus) {
    if (found == nullptr && (uuid.empty() || absl::EqualsIgnoreCase(gpu.uuid, uuid))) found = &gpu;
  }
  if (found == nullptr) return NoSuchGpu(uuid, gpus);
  CUcontext context = nullptr;
  RETURN_IF_CUDA_ERROR(*api, api->cuDevicePrimaryCtxRetain(&context, found->device),
                       absl::StrCat("open ", found->uuid));
  const CUmemAllocationProp properties = ShareableMemory(found->device);
  auto device = std::shared_ptr<CudaDevice>(new CudaDevice(std::move(api), found->device, context));
  const DriverApi& driver = device->api();
  device->uuid_ = found->uuid;
  RETURN_IF_ERROR(device->MakeCurrent());
  char name[256] = {};
  RETURN_IF_CUDA_ERROR(driver, driver.cuDeviceGetName(name, sizeof name - 1, found->device),
                       "read a GPU's name");
  device->name_ = name;
  ASSIGN_OR_RETURN(device->major_,
                   device->Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "capability"));
  ASSIGN_OR_RETURN(device->minor_,
                   device->Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "capability"));
  ASSIGN_OR_RETURN(device->l2_bytes_,
                   device->Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "L2 size"));
  ASSIGN_OR_RETURN(const int64_t multiprocessors,
                   device->Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "SM count"));
  device->multiprocessors_ = static_cast<int>(multiprocessors);
  ASSIGN_OR_RETURN(
      const int64_t shareable,
      device->Attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                        "handle types"));
  if (shareable == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(device->name_,
                     " cannot share memory by file descriptor (CUDA VMM), which is needed to "
                     "keep inputs and answers out of candidates' reach"));
  }
  size_t granularity = 0;
  RETURN_IF_CUDA_ERROR(driver,
                       driver.cuMemGetAllocationGranularity(&granularity, &properties,
                                                            CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                       "read the allocation granularity");
  device->granularity_ = static_cast<int64_t>(granularity);
  return std::shared_ptr<const CudaDevice>(std::move(device));
}

CudaDevice::~CudaDevice() { api_->cuDevicePrimaryCtxRelease(device_); }

std::string CudaDevice::architecture() const { return absl::StrCat("sm_", major_, minor_); }

absl::Status CudaDevice::MakeCurrent() const {
  return CudaStatus(*api_, api_->cuCtxSetCurrent(context_), "make a context current");
}

absl::StatusOr<int64_t> CudaDevice::FreeBytes() const {
  size_t free = 0, total = 0;
  RETURN_IF_CUDA_ERROR(*api_, api_->cuMemGetInfo(&free, &total), "read free device memory");
  return static_cast<int64_t>(free);
}

absl::StatusOr<int64_t> CudaDevice::Attribute(CUdevice_attribute attribute,
                                              absl::string_view what) const {
  int value = 0;
  RETURN_IF_CUDA_ERROR(*api_, api_->cuDeviceGetAttribute(&value, attribute, device_),
                       absl::StrCat("read the GPU's ", what));
  return value;
}

}  // namespace ksearch
