// Bulk copies by one thread into three stages; full barriers count bytes, empty ones one arrival of
// each warp that has read.
#include "ksearch_cuda.h"
#include "rows.cuh"

namespace {
using namespace corpus;
constexpr int kRows = 8, kStages = 3;
constexpr uint32_t kBytes = kHidden * sizeof(Bf16);

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ __align__(128) Bf16 stages[kStages][kHidden];
  __shared__ uint64_t full[kStages], empty[kStages];
  __shared__ float sums[2][4];
  const int first = blockIdx.x * kRows;
  const int count = min(kRows, rows - first);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ks::mbarrier_init(&full[stage], 1);
      ks::mbarrier_init(&empty[stage], 4);
    }
    ks::mbarrier_fence_init();
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x != 128) return;
    for (int i = 0; i < count; ++i) {
      const int stage = i % kStages;
      if (i >= kStages) ks::mbarrier_wait(&empty[stage], (i / kStages - 1) % 2);
      ks::mbarrier_arrive_expect(&full[stage], kBytes);
      ks::bulk_load(stages[stage], x + static_cast<int64_t>(first + i) * kHidden, kBytes,
                    &full[stage]);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    const int stage = i % kStages;
    ks::mbarrier_wait(&full[stage], i / kStages % 2);
    const float sum = WarpSum(Squares(stages[stage], threadIdx.x, 128));
    if (threadIdx.x % 32 == 0) sums[i % 2][threadIdx.x / 32] = sum;
    BarSync(1, 128);
    const float* const s = sums[i % 2];
    Write(stages[stage], weight, s[0] + s[1] + s[2] + s[3], threadIdx.x, 128,
          y + static_cast<int64_t>(first + i) * kHidden);
    __syncwarp();
    if (threadIdx.x % 32 == 0) ks::mbarrier_arrive(&empty[stage]);
  }
}
}  // namespace

CORPUS_RUN(NormalizeRows, kRows, 160)
