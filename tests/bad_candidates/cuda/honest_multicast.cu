// Clusters of two blocks, each with rows of its own. One bulk copy brings a half of the weights to
// both blocks (.multicast::cluster), each block copies the other half for both.
#include <cooperative_groups.h>

#include "ksearch_cuda.h"
#include "rows.cuh"

namespace {
using namespace corpus;
constexpr int kRows = 4;  // of a block
constexpr unsigned kHalf = kHidden * sizeof(Bf16) / 2;

__global__ void __cluster_dims__(2, 1, 1)
    NormalizeRows(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  namespace cg = cooperative_groups;
  __shared__ __align__(128) Bf16 weights[kHidden];
  __shared__ __align__(8) uint64_t full;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    ks::mbarrier_init(&full, 1);
    ks::mbarrier_fence_init();
    ks::mbarrier_arrive_expect(&full, 2 * kHalf);
  }
  // The other block's barrier must expect its bytes before a copy may complete there.
  cluster.sync();
  if (threadIdx.x == 0) {
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(weights)) + rank * kHalf;
    const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
    const unsigned short both = 3;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(to),
        "l"(__cvta_generic_to_global(reinterpret_cast<const char*>(weight) + rank * kHalf)),
        "r"(kHalf), "r"(barrier), "h"(both)
        : "memory");
  }
  const int first = static_cast<int>(blockIdx.x) * kRows;
  const int end = min(rows, first + kRows);
  for (int row = first; row < end; ++row) {
    const int64_t at = static_cast<int64_t>(row) * kHidden;
    const float total = BlockSum(Squares(x + at, static_cast<int>(threadIdx.x), kThreads));
    if (row == first) ks::mbarrier_wait(&full, 0);
    Write(x + at, weights, total, static_cast<int>(threadIdx.x), kThreads, y + at);
  }
  // A block without rows must not end before copies into its memory have.
  if (first >= end) ks::mbarrier_wait(&full, 0);
  cluster.sync();
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const int rows = static_cast<int>(args->batch_size);
  const int blocks = (rows + kRows - 1) / kRows;
  NormalizeRows<<<static_cast<unsigned>((blocks + 1) / 2 * 2), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), rows, corpus::Output(args));
  return cudaGetLastError();
}
