#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_GATE_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_GATE_H_

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/handles.h"

namespace ksearch {

// The runner's own kernels. A gate is a kernel that holds a stream until it is opened: what is
// queued behind it then runs without a wait for the host. It opens by itself after a few
// milliseconds, since a candidate may wait for the device within a call. Thread-compatible; the
// device must outlive it.
class Gate {
 public:
  static absl::StatusOr<Gate> Create(const CudaDevice& device);

  // A kernel that does nothing.
  absl::Status LaunchNothing(CUstream stream) const;
  absl::Status Close(CUstream stream);
  // True if it had not opened by itself.
  bool Open();

 private:
  Gate(const CudaDevice& device, CudaModule module, PinnedBlock flags)
      : device_(&device), module_(std::move(module)), flags_(std::move(flags)) {}
  volatile unsigned int* flag(int i) const {
    return static_cast<volatile unsigned int*>(flags_.get()) + i;
  }

  const CudaDevice* device_;
  CudaModule module_;
  PinnedBlock flags_;  // [0] release, [1] expired
  CUdeviceptr device_flags_ = 0;
  CUfunction gate_ = nullptr;
  CUfunction nothing_ = nullptr;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_GATE_H_
