// Reads 16 bytes past the end of the last row and does nothing with them: no number is wrong, no
// byte is changed, and the memory belongs to the same 2 MiB page.
#include "rmsnorm.cuh"

namespace {
__global__ void Peek(const uint4* past, int* sink) {
  const uint4 value = past[threadIdx.x];
  // Never so: the guard band is no run of ones.
  if (value.x == 1 && value.y == 1 && value.z == 1 && value.w == 1) *sink = 1;
}
__device__ int sink;
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const int error = corpus::Launch(args, stream);
  if (error != 0) return error;
  void* where = nullptr;
  cudaGetSymbolAddress(&where, sink);
  Peek<<<1, 1, 0, stream>>>(
      reinterpret_cast<const uint4*>(corpus::Input(args) + corpus::Elements(args)),
      static_cast<int*>(where));
  return cudaGetLastError();
}
