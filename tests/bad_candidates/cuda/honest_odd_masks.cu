// Lanes of a warp work in groups that depend on their numbers modulo three and on what they find:
// shuffles, votes and matches with masks that are neither full nor contiguous, in branches that
// diverge.
#include "rows.cuh"

namespace {
using namespace corpus;

// Of the lanes in mask, by their rank in it; every lane of it gets the sum.
__device__ float SumOf(unsigned mask, float value) {
  const unsigned lane = threadIdx.x % 32;
  const int rank = __popc(mask & ((1u << lane) - 1));
  const int members = __popc(mask);
  float sum = 0;
  for (int i = 0; i < members; ++i) {
    sum += __shfl_sync(mask, value, __fns(mask, 0, i + 1));
  }
  return rank < members ? sum : 0;
}

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int, Bf16* y) {
  __shared__ float sums[kThreads / 32];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const float mine = Squares(x + at, static_cast<int>(threadIdx.x), kThreads);
  const unsigned group = __match_any_sync(0xffffffffu, lane % 3);
  float of_group;
  if (lane % 3 == 0) {
    of_group = SumOf(group, mine);
  } else if (lane % 3 == 1) {
    of_group = SumOf(group, mine);
  } else {
    of_group = SumOf(group, mine);
  }
  __syncwarp();
  // The first three lanes stand for their groups.
  const unsigned leaders = __ballot_sync(0xffffffffu, lane < 3);
  if (lane < 3) {
    const float of_warp = SumOf(leaders, of_group);
    const int same = __reduce_add_sync(leaders, 1);
    if (lane == 0) sums[warp] = same == 3 ? of_warp : 0;
  }
  __syncthreads();
  float total = 0;
  for (const float part : sums) total += part;
  Write(x + at, weight, total, static_cast<int>(threadIdx.x), kThreads, y + at);
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, corpus::kThreads)
