// Two blocks of a cluster share a row and read each other's sum.
#include <cooperative_groups.h>

#include "rows.cuh"

namespace {
using namespace corpus;

__global__ void __cluster_dims__(2, 1, 1)
    NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  const auto cluster = cooperative_groups::this_cluster();
  __shared__ float own;
  const int64_t at = static_cast<int64_t>(blockIdx.x / 2) * kHidden;
  const int rank = static_cast<int>(cluster.block_rank());
  const int first = rank * kThreads + threadIdx.x;
  const float sum = BlockSum(Squares(x + at, first, 2 * kThreads));
  if (threadIdx.x == 0) own = sum;
  cluster.sync();
  const float total = sum + *cluster.map_shared_rank(&own, rank ^ 1);
  cluster.sync();  // nobody leaves while its memory is being read
  Write(x + at, weight, total, first, 2 * kThreads, y + at);
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  NormalizeRows<<<static_cast<unsigned>(2 * args->batch_size), kThreads, 0, stream>>>(
      Input(args), Weight(args), static_cast<int>(args->batch_size), Output(args));
  return cudaGetLastError();
}
