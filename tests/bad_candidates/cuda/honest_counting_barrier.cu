// Barriers that count and vote, and exchange within warps through shared memory.
#include "rows.cuh"

namespace {
using namespace corpus;

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ float lanes[kThreads];
  __shared__ float sums[kThreads / 32];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  lanes[threadIdx.x] = Squares(x + at, threadIdx.x, kThreads);
  for (int offset = 16; offset > 0; offset /= 2) {
    __syncwarp();
    const float other = lanes[threadIdx.x ^ offset];
    __syncwarp();
    lanes[threadIdx.x] += other;
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = lanes[threadIdx.x];
  const int present = __syncthreads_count(1);
  float total = 0;
  for (int warp = 0; warp < present / 32; ++warp) total += sums[warp];
  if (__syncthreads_or(isnan(total))) total = 1;
  Write(x + at, weight, total, threadIdx.x, kThreads, y + at);
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, corpus::kThreads)
