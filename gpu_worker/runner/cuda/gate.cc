#include "gpu_worker/runner/cuda/gate.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "common/status_macros.h"

extern "C" const unsigned long long ksearch_runner_kernels_image[];

namespace ksearch {
namespace {

// Queueing 16 calls of some launches each takes 0.1 to 0.5 ms.
constexpr unsigned long long kLimitNanos = 5'000'000;

}  // namespace

absl::StatusOr<Gate> Gate::Create(const CudaDevice& device) {
  const DriverApi& api = device.api();
  ASSIGN_OR_RETURN(CudaModule module, LoadCudaModule(api, ksearch_runner_kernels_image));
  ASSIGN_OR_RETURN(PinnedBlock flags, AllocatePinnedBlock(api, 2 * sizeof(unsigned int)));
  Gate gate(device, std::move(module), std::move(flags));
  RETURN_IF_CUDA_ERROR(api,
                       api.cuMemHostGetDevicePointer(&gate.device_flags_, gate.flags_.get(), 0),
                       "map page-locked memory");
  ASSIGN_OR_RETURN(gate.gate_, FindCudaFunction(api, gate.module_, "ksearch_gate"));
  ASSIGN_OR_RETURN(gate.nothing_, FindCudaFunction(api, gate.module_, "ksearch_nothing"));
  return gate;
}

absl::Status Gate::LaunchNothing(CUstream stream) const {
  const DriverApi& api = device_->api();
  return CudaStatus(api,
                    api.cuLaunchKernel(nothing_, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr),
                    "launch an empty kernel");
}

absl::Status Gate::Close(CUstream stream) {
  *flag(0) = 0;
  *flag(1) = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  CUdeviceptr release = device_flags_;
  CUdeviceptr expired = device_flags_ + sizeof(unsigned int);
  unsigned long long limit = kLimitNanos;
  void* arguments[] = {&release, &limit, &expired};
  const DriverApi& api = device_->api();
  return CudaStatus(api, api.cuLaunchKernel(gate_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr),
                    "launch the gate");
}

bool Gate::Open() {
  const bool held = *flag(1) == 0;
  *flag(0) = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return held;
}

}  // namespace ksearch
