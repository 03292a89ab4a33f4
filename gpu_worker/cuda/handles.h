#ifndef KSEARCH_GPU_WORKER_CUDA_HANDLES_H_
#define KSEARCH_GPU_WORKER_CUDA_HANDLES_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/cuda/driver_api.h"

namespace ksearch {

// Owns one handle of the driver and releases it with `Release`. Movable. The table must outlive it.
template <typename Handle, auto Release>
class CudaHandle {
 public:
  CudaHandle() = default;
  CudaHandle(const DriverApi& api, Handle handle) : api_(&api), handle_(handle) {}
  CudaHandle(CudaHandle&& other) noexcept { *this = std::move(other); }
  CudaHandle& operator=(CudaHandle&& other) noexcept {
    if (this != &other) {
      Reset();
      api_ = std::exchange(other.api_, nullptr);
      handle_ = std::exchange(other.handle_, Handle{});
    }
    return *this;
  }
  ~CudaHandle() { Reset(); }

  Handle get() const { return handle_; }
  bool ok() const { return api_ != nullptr; }
  void Reset() {
    if (api_ != nullptr) (api_->*Release)(handle_);
    api_ = nullptr;
  }

 private:
  const DriverApi* api_ = nullptr;
  Handle handle_ = {};
};

using CudaModule = CudaHandle<CUmodule, &DriverApi::cuModuleUnload>;
using CudaStream = CudaHandle<CUstream, &DriverApi::cuStreamDestroy>;
using CudaEvent = CudaHandle<CUevent, &DriverApi::cuEventDestroy>;
using CudaGraph = CudaHandle<CUgraph, &DriverApi::cuGraphDestroy>;
using CudaGraphExec = CudaHandle<CUgraphExec, &DriverApi::cuGraphExecDestroy>;
// Private device memory (cuMemAlloc), 256-byte aligned.
using CudaBlock = CudaHandle<CUdeviceptr, &DriverApi::cuMemFree>;
// Page-locked host memory.
using PinnedBlock = CudaHandle<void*, &DriverApi::cuMemFreeHost>;

// Loads a cubin, fatbin or PTX text in memory.
absl::StatusOr<CudaModule> LoadCudaModule(const DriverApi& api, const void* image);
absl::StatusOr<CUfunction> FindCudaFunction(const DriverApi& api, const CudaModule& module,
                                            const char* name);
// The stream does not wait for the default stream.
absl::StatusOr<CudaStream> MakeCudaStream(const DriverApi& api);
// With timing unless `flags` say otherwise (CU_EVENT_...).
absl::StatusOr<CudaEvent> MakeCudaEvent(const DriverApi& api,
                                        unsigned int flags = CU_EVENT_DEFAULT);
absl::StatusOr<CudaBlock> AllocateCudaBlock(const DriverApi& api, int64_t bytes);
absl::StatusOr<PinnedBlock> AllocatePinnedBlock(const DriverApi& api, int64_t bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_HANDLES_H_
