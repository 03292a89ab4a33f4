// As many blocks as fit at once, which take rows from a counter that the call resets.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, int rows, int hidden, int* next,
                          Bf16* y) {
  __shared__ int row;
  while (true) {
    if (threadIdx.x == 0) row = atomicAdd(next, 1);
    __syncthreads();
    if (row >= rows) return;
    const int64_t at = static_cast<int64_t>(row) * hidden;
    corpus::NormalizeRow(x + at, weight, hidden, y + at);
    __syncthreads();
  }
}
}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs*) { return sizeof(int); }

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  auto* next = static_cast<int*>(args->workspace);
  const cudaError_t error = cudaMemsetAsync(next, 0, sizeof(int), stream);
  if (error != cudaSuccess) return error;
  Normalize<<<132 * 4, corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<int>(args->batch_size),
      static_cast<int>(args->hidden_size), next, corpus::Output(args));
  return cudaGetLastError();
}
