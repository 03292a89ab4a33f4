// Waits at an mbarrier for the phase that is over before the first one begins, which is not to wait
// at all.
#include "ksearch_cuda.h"
#include "rows.cuh"

namespace {
using namespace corpus;

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ float sums[kThreads];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ks::mbarrier_init(&barrier, kThreads / 32);
    ks::mbarrier_fence_init();
  }
  __syncthreads();
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  sums[threadIdx.x] = Squares(x + at, threadIdx.x, kThreads);
  __syncwarp();
  ks::mbarrier_wait(&barrier, 1);  // before the arrival: a phase later it would wait for ever
  __syncwarp();
  if (threadIdx.x % 32 == 0) ks::mbarrier_arrive(&barrier);
  Linger(10);
  float total = 0;
  for (int i = 0; i < kThreads; ++i) total += static_cast<volatile float*>(sums)[i];
  Write(x + at, weight, total, threadIdx.x, kThreads, y + at);
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, corpus::kThreads)
