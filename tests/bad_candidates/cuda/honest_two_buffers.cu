// A warp of loaders fills two buffers in turn, the others add up and write: a full and an empty
// named barrier for each buffer, as in kernels with warps of two kinds.
#include "rows.cuh"

namespace {
using namespace corpus;
constexpr int kRows = 6;
constexpr int kAll = 160;  // 32 load, 128 compute

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ __align__(16) Bf16 buffers[2][kHidden];
  __shared__ float sums[4];
  const int first = blockIdx.x * kRows;
  const int count = min(kRows, rows - first);
  const bool loads = threadIdx.x >= 128;
  for (int i = 0; i < count; ++i) {
    const int64_t at = static_cast<int64_t>(first + i) * kHidden;
    Bf16* const buffer = buffers[i % 2];
    const int full = 1 + i % 2, empty = 3 + i % 2;
    if (loads) {
      if (i >= 2) BarSync(empty, kAll);
      const uint4* const from = reinterpret_cast<const uint4*>(x + at);
      for (int j = threadIdx.x - 128; j < kHidden / 8; j += 32) {
        reinterpret_cast<uint4*>(buffer)[j] = from[j];
      }
      BarArrive(full, kAll);
    } else {
      BarSync(full, kAll);
      const float sum = WarpSum(Squares(buffer, threadIdx.x, 128));
      if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
      BarSync(5, 128);
      const float total = sums[0] + sums[1] + sums[2] + sums[3];
      Write(buffer, weight, total, threadIdx.x, 128, y + at);
      BarSync(6, 128);
      if (i + 2 < count) BarArrive(empty, kAll);
    }
  }
}
}  // namespace

CORPUS_RUN(NormalizeRows, kRows, kAll)
