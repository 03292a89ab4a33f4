// Writes 64 bytes before the output.
#include "rmsnorm.cuh"

namespace {
__global__ void Write(unsigned char* bytes) { bytes[threadIdx.x] = 0; }
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const int error = corpus::Launch(args, stream);
  if (error != 0) return error;
  Write<<<1, 64, 0, stream>>>(reinterpret_cast<unsigned char*>(corpus::Output(args)) - 64);
  return cudaGetLastError();
}
