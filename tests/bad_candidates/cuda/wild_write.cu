// Writes to an address that belongs to nobody.
#include "rmsnorm.cuh"

namespace {
__global__ void Write(int* nowhere) { *nowhere = 1; }
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  Write<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(0x10));
  return corpus::Launch(args, stream);
}
