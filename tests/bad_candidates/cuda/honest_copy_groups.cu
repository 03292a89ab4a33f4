// cp.async in two groups: half of the row is added up while the other half still comes.
#include "rows.cuh"

namespace {
using namespace corpus;

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ __align__(16) Bf16 row[kHidden];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  for (int half = 0; half < 2; ++half) {
    const int i = half * kHidden / 2 + threadIdx.x * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(row + i))),
                 "l"(x + at + i)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  float sum = Squares(row, threadIdx.x, kThreads, kHidden / 2);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  sum += Squares(row, kHidden / 2 + threadIdx.x, kThreads);
  Write(row, weight, BlockSum(sum), threadIdx.x, kThreads, y + at);
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, corpus::kThreads)
