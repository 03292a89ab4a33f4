#ifndef KSEARCH_GPU_WORKER_CUDA_CUDA_DEVICE_H_
#define KSEARCH_GPU_WORKER_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/cuda/driver_api.h"

namespace ksearch {

// "GPU-8a3f...", in the notation of NVML and nvidia-smi.
std::string GpuUuidText(const CUuuid& uuid);

// One GPU with its primary context, which the CUDA runtime of a candidate joins as well. It is made
// current for the thread that opens it; other threads must call MakeCurrent first. Everything
// allocated on it must be freed before it.
class CudaDevice {
 public:
  // `uuid`: as above; empty takes the first GPU that the driver lists. NOT_FOUND names the existing
  // GPUs.
  static absl::StatusOr<std::shared_ptr<const CudaDevice>> Open(
      std::shared_ptr<const DriverApi> api, absl::string_view uuid);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DriverApi& api() const { return *api_; }
  CUdevice handle() const { return device_; }
  CUcontext context() const { return context_; }
  const std::string& uuid() const { return uuid_; }
  const std::string& name() const { return name_; }
  // "sm_90".
  std::string architecture() const;
  int multiprocessors() const { return multiprocessors_; }
  int64_t l2_bytes() const { return l2_bytes_; }
  // The granularity of VMM allocations: their sizes must be multiples of it.
  int64_t granularity() const { return granularity_; }

  absl::Status MakeCurrent() const;
  // Free memory of the whole device, whichever process uses the rest.
  absl::StatusOr<int64_t> FreeBytes() const;

 private:
  CudaDevice(std::shared_ptr<const DriverApi> api, CUdevice device, CUcontext context)
      : api_(std::move(api)), device_(device), context_(context) {}
  absl::StatusOr<int64_t> Attribute(CUdevice_attribute attribute, absl::string_view what) const;

  const std::shared_ptr<const DriverApi> api_;
  const CUdevice device_;
  const CUcontext context_;
  std::string uuid_;
  std::string name_;
  int64_t major_ = 0, minor_ = 0;
  int multiprocessors_ = 0;
  int64_t l2_bytes_ = 0;
  int64_t granularity_ = 0;
};

// The properties of CudaDevice's VMM allocations: on the device, exportable as a POSIX file
// descriptor.
CUmemAllocationProp ShareableMemory(CUdevice device);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_CUDA_DEVICE_H_
