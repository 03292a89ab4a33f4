#ifndef KSEARCH_GPU_WORKER_CUDA_DEVICE_MEMORY_H_
#define KSEARCH_GPU_WORKER_CUDA_DEVICE_MEMORY_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "gpu_worker/cuda/driver_api.h"

namespace ksearch {

// One piece of device memory by the virtual memory API, mapped for reading and writing: created
// here and passed to another process as a descriptor, or received from one. Movable; the driver's
// table and the context must outlive it. Thread-compatible.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory() { Reset(); }

  // `bytes`: a multiple of the device's granularity. RESOURCE_EXHAUSTED if the device has too
  // little memory left. The contents are undefined.
  static absl::StatusOr<DeviceMemory> Create(const DriverApi& api, CUdevice device, int64_t bytes);
  // Maps memory that another process exported; `fd` stays the caller's and may be closed
  // afterwards. `bytes` must be the size with which it was created: mapping more fails.
  static absl::StatusOr<DeviceMemory> Import(const DriverApi& api, CUdevice device, int fd,
                                             int64_t bytes);

  // Returns a new descriptor that Import accepts, here or in another process. The memory exists as
  // long as any process has it open or mapped.
  absl::StatusOr<UniqueFd> Export() const;

  CUdeviceptr address() const { return address_; }
  int64_t bytes() const { return bytes_; }

 private:
  DeviceMemory(const DriverApi& api, CUmemGenericAllocationHandle handle)
      : api_(&api), handle_(handle) {}
  absl::Status Map(CUdevice device, int64_t bytes);
  void Reset();

  const DriverApi* api_ = nullptr;
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  int64_t reserved_ = 0;
  int64_t bytes_ = 0;  // mapped
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_DEVICE_MEMORY_H_
