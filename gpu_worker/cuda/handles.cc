#include "gpu_worker/cuda/handles.h"

#include "absl/strings/str_cat.h"

namespace ksearch {

absl::StatusOr<CudaModule> LoadCudaModule(const DriverApi& api, const void* image) {
  CUmodule module = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuModuleLoadData(&module, image), "load device code");
  return CudaModule(api, module);
}

absl::StatusOr<CUfunction> FindCudaFunction(const DriverApi& api, const CudaModule& module,
                                            const char* name) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuModuleGetFunction(&function, module.get(), name),
                       absl::StrCat("find kernel ", name));
  return function;
}

absl::StatusOr<CudaStream> MakeCudaStream(const DriverApi& api) {
  CUstream stream = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "make a stream");
  return CudaStream(api, stream);
}

absl::StatusOr<CudaEvent> MakeCudaEvent(const DriverApi& api, unsigned int flags) {
  CUevent event = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuEventCreate(&event, flags), "make an event");
  return CudaEvent(api, event);
}

absl::StatusOr<CudaBlock> AllocateCudaBlock(const DriverApi& api, int64_t bytes) {
  CUdeviceptr address = 0;
  RETURN_IF_CUDA_ERROR(api, api.cuMemAlloc(&address, static_cast<size_t>(bytes)),
                       absl::StrCat("allocate ", bytes, " bytes of device memory"));
  return CudaBlock(api, address);
}

absl::StatusOr<PinnedBlock> AllocatePinnedBlock(const DriverApi& api, int64_t bytes) {
  void* address = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuMemHostAlloc(&address, static_cast<size_t>(bytes), 0),
                       absl::StrCat("allocate ", bytes, " bytes of page-locked memory"));
  return PinnedBlock(api, address);
}

}  // namespace ksearch
