// Leaves a kernel behind that never ends.
#include "rmsnorm.cuh"

namespace {
__device__ volatile unsigned int turns;
__global__ void RunForEver() {
  while (true) turns = turns + 1;
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  cudaStream_t own;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  RunForEver<<<1, 1, 0, own>>>();
  return corpus::Launch(args, stream);
}
