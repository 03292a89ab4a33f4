// Allocates more than there is, and reports what it is told.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, size_t{1} << 40);
  if (error != cudaSuccess) return error;
  return corpus::Launch(args, stream);
}
