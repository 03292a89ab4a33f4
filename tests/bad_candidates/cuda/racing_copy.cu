// Reads what cp.async brings without waiting for it, a while after it was asked for.
#include "rows.cuh"

namespace {
using namespace corpus;

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ __align__(16) Bf16 row[kHidden];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  for (int i = threadIdx.x * 8; i < kHidden; i += kThreads * 8) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(row + i))),
                 "l"(x + at + i)
                 : "memory");
  }
  Linger(10);
  __syncthreads();
  const float sum = Squares(row, threadIdx.x, kThreads);
  Write(row, weight, BlockSum(sum), threadIdx.x, kThreads, y + at);
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, corpus::kThreads)
