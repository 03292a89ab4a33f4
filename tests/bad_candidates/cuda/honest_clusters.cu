// One row by a cluster of two blocks, which add their sums up in distributed shared memory.
#include <cooperative_groups.h>

#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
constexpr int kBlocks = 2;

__global__ void __cluster_dims__(kBlocks, 1, 1)
    Normalize(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  namespace cg = cooperative_groups;
  __shared__ float sums[kBlocks];
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int64_t at = static_cast<int64_t>(blockIdx.x / kBlocks) * hidden;
  const int first = rank * corpus::kThreads + static_cast<int>(threadIdx.x);
  float sum = 0;
  for (int i = first; i < hidden; i += kBlocks * corpus::kThreads) {
    const float value = __bfloat162float(x[at + i]);
    sum += value * value;
  }
  sum = corpus::BlockSum(sum);
  if (threadIdx.x < kBlocks) {
    *cluster.map_shared_rank(&sums[rank], static_cast<int>(threadIdx.x)) = sum;
  }
  cluster.sync();
  float total = 0;
  for (const float part : sums) total += part;
  const float factor = rsqrtf(total / static_cast<float>(hidden) + corpus::kEpsilon);
  for (int i = first; i < hidden; i += kBlocks * corpus::kThreads) {
    y[at + i] =
        __float2bfloat16(__bfloat162float(x[at + i]) * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<dim3(static_cast<unsigned>(kBlocks * args->batch_size)), corpus::kThreads, 0,
              stream>>>(corpus::Input(args), corpus::Weight(args),
                        static_cast<int>(args->hidden_size), corpus::Output(args));
  return cudaGetLastError();
}
