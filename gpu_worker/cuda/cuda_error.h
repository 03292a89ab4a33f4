#ifndef KSEARCH_GPU_WORKER_CUDA_CUDA_ERROR_H_
#define KSEARCH_GPU_WORKER_CUDA_CUDA_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/cuda/driver_api.h"

namespace ksearch {

// The meaning of an error for the process and the device.
enum class CudaErrorClass {
  kNone,
  // Not enough device memory; the context stays usable.
  kOutOfMemory,
  // An invalid request; the context stays usable.
  kCall,
  // A kernel did something illegal: every later call of the process fails in the same way. Whoever
  // launched the kernel is responsible.
  kSticky,
  // A fault of the device or the driver, whatever ran on it.
  kHardware,
};
CudaErrorClass ClassifyCudaError(CUresult result);

// Returns true if the context can no longer be used.
inline bool IsSticky(CUresult result) {
  const CudaErrorClass error = ClassifyCudaError(result);
  return error == CudaErrorClass::kSticky || error == CudaErrorClass::kHardware;
}

// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string CudaErrorText(const DriverApi& api, CUresult result);

// Returns OK for CUDA_SUCCESS, otherwise "<doing>: <text>": kOutOfMemory is RESOURCE_EXHAUSTED,
// kCall INTERNAL, kSticky ABORTED, kHardware UNAVAILABLE.
absl::Status CudaStatus(const DriverApi& api, CUresult result, absl::string_view doing);

#define RETURN_IF_CUDA_ERROR(api, call, doing)                                      \
  do {                                                                              \
    if (const CUresult ksearch_result_ = (call); ksearch_result_ != CUDA_SUCCESS) { \
      return ::ksearch::CudaStatus((api), ksearch_result_, (doing));                \
    }                                                                               \
  } while (false)

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_CUDA_ERROR_H_
