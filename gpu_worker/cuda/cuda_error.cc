#include "gpu_worker/cuda/cuda_error.h"

#include "absl/strings/str_cat.h"

namespace ksearch {

CudaErrorClass ClassifyCudaError(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS:
      return CudaErrorClass::kNone;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return CudaErrorClass::kOutOfMemory;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return CudaErrorClass::kSticky;
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_UNKNOWN:
      return CudaErrorClass::kHardware;
    default:
      return CudaErrorClass::kCall;
  }
}

std::string CudaErrorText(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(result, &name) != CUDA_SUCCESS) name = nullptr;
  if (api.cuGetErrorString(result, &text) != CUDA_SUCCESS) text = nullptr;
  return absl::StrCat(name == nullptr ? "CUDA error" : name, " (", static_cast<int>(result),
                      "): ", text == nullptr ? "no description" : text);
}

absl::Status CudaStatus(const DriverApi& api, CUresult result, absl::string_view doing) {
  const CudaErrorClass error = ClassifyCudaError(result);
  if (error == CudaErrorClass::kNone) return absl::OkStatus();
  const std::string message = absl::StrCat(doing, ": ", CudaErrorText(api, result));
  switch (error) {
    case CudaErrorClass::kOutOfMemory:
      return absl::ResourceExhaustedError(message);
    case CudaErrorClass::kSticky:
      return absl::AbortedError(message);
    case CudaErrorClass::kHardware:
      return absl::UnavailableError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace ksearch
