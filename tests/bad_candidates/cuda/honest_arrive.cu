// Four warps load and add up, and only announce it (bar.arrive); the four that write wait (bar.sync
// of the same barrier) and answer by another one before the next row's sums replace these.
#include "rows.cuh"

namespace {
using namespace corpus;
constexpr int kRows = 4;
constexpr int kFull = 1, kEmpty = 2;

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  __shared__ float sums[4];
  const bool loads = threadIdx.x < 128;
  const int lane = threadIdx.x % 128;
  for (int i = 0; i < kRows; ++i) {
    const int row = blockIdx.x * kRows + i;
    if (row >= rows) return;
    const int64_t at = static_cast<int64_t>(row) * kHidden;
    if (loads) {
      const float sum = WarpSum(Squares(x + at, lane, 128));
      if (i > 0) BarSync(kEmpty, 256);
      if (lane % 32 == 0) sums[lane / 32] = sum;
      BarArrive(kFull, 256);
    } else {
      BarSync(kFull, 256);
      const float total = sums[0] + sums[1] + sums[2] + sums[3];
      if (i + 1 < kRows && row + 1 < rows) BarArrive(kEmpty, 256);
      Write(x + at, weight, total, lane, 128, y + at);
    }
  }
}
}  // namespace

CORPUS_RUN(NormalizeRows, kRows, 256)
