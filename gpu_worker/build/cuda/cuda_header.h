#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_CUDA_HEADER_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_CUDA_HEADER_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The text of ksearch_cuda.h, which is available to the sources of every CUDA candidate.
absl::string_view CudaHeader();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_CUDA_HEADER_H_
