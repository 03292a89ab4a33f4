#ifndef KSEARCH_GPU_WORKER_CUDA_CUDA_ERROR_H_
#define KSEARCH_GPU_WORKER_CUDA_CUDA_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/cuda/driver_api.h"

namespace ksearch {

// What an error says about the process and the device.
enum class CudaErrorClass {
  kNone,
  // Not enough memory of the device; the context stays usable.
  kOutOfMemory,
  // Asked for something wrong; the context stays usable.
  kCall,
  // A kernel did something illegal: every later call of the process fails the same way. Whose
  // kernel it was decides who is to blame.
  kSticky,
  // The device or the driver, whatever ran on it.
  kHardware,
};
CudaErrorClass ClassifyCudaError(CUresult result);

// The context can no longer be used.
inline bool IsSticky(CUresult result) {
  const CudaErrorClass error = ClassifyCudaError(result);
  return error == CudaErrorClass::kSticky || error == CudaErrorClass::kHardware;
}

// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string CudaErrorText(const DriverApi& api, CUresult result);

// OK for CUDA_SUCCESS, else "<doing>: <text>": kOutOfMemory is RESOURCE_EXHAUSTED, kCall INTERNAL,
// kSticky ABORTED, kHardware UNAVAILABLE.
absl::Status CudaStatus(const DriverApi& api, CUresult result, absl::string_view doing);

#define RETURN_IF_CUDA_ERROR(api, call, doing)                                      \
  do {                                                                              \
    if (const CUresult ksearch_result_ = (call); ksearch_result_ != CUDA_SUCCESS) { \
      return ::ksearch::CudaStatus((api), ksearch_result_, (doing));                \
    }                                                                               \
  } while (false)

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_CUDA_ERROR_H_
