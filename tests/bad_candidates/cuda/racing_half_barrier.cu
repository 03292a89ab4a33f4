// The halves of the block wait for themselves, and then read what the other half wrote.
#include "rows.cuh"

namespace {
using namespace corpus;

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ float sums[kThreads / 32];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  const float sum = WarpSum(Squares(x + at, threadIdx.x, kThreads));
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  BarSync(1 + threadIdx.x / 128, 128);
  Linger(10);
  float total = 0;
  for (int i = 0; i < kThreads / 32; ++i) total += static_cast<volatile float*>(sums)[i];
  Write(x + at, weight, total, threadIdx.x, kThreads, y + at);
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, corpus::kThreads)
