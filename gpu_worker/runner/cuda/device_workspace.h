#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_WORKSPACE_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_WORKSPACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/cuda_device.h"

namespace ksearch {

// A candidate's scratch memory on the device: between two reserved ranges that are never mapped, so
// that access outside is illegal; filled with one repeated byte; aligned to 256 bytes and, as far
// as that allows, to its end. Movable; the device must outlive it.
class DeviceWorkspace {
 public:
  // A large negative number in every signed and floating type, and never NaN: not a plausible
  // value.
  static constexpr int kPattern = 0xFB;

  // `bytes` > 0. RESOURCE_EXHAUSTED if the device has too little memory left.
  static absl::StatusOr<DeviceWorkspace> Create(const CudaDevice& device, int64_t bytes, int fill);
  DeviceWorkspace(DeviceWorkspace&& other) noexcept { *this = std::move(other); }
  DeviceWorkspace& operator=(DeviceWorkspace&& other) noexcept;
  ~DeviceWorkspace() { Reset(); }

  CUdeviceptr address() const { return address_; }

 private:
  DeviceWorkspace() = default;
  void Reset();

  const DriverApi* api_ = nullptr;
  CUdeviceptr reserved_ = 0;
  size_t reserved_bytes_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  bool has_handle_ = false;
  CUdeviceptr mapped_ = 0;
  size_t mapped_bytes_ = 0;
  CUdeviceptr address_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_DEVICE_WORKSPACE_H_
