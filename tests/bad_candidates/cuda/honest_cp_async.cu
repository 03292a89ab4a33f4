// Rows go to shared memory by cp.async.
#include "ksearch_cuda.h"
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, Bf16* y) {
  __shared__ __align__(16) Bf16 row[4096];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 4096;
  for (int i = static_cast<int>(threadIdx.x) * 8; i < 4096; i += corpus::kThreads * 8) {
    ks::cp_async16(row + i, x + at + i);
  }
  ks::cp_async_commit();
  ks::cp_async_wait<0>();
  __syncthreads();
  corpus::NormalizeRow(row, weight, 4096, y + at);
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), corpus::Output(args));
  return cudaGetLastError();
}
