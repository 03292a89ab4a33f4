// Tensor copies (TMA) both ways, by maps that are made in every call: boxes of 4 rows and 256
// columns, read as zeros beyond the last row and not written there.
#include "ksearch_cuda.h"
#include "rows.cuh"

namespace {
using namespace corpus;
constexpr int kRows = 4, kColumns = 256, kBoxes = kHidden / kColumns;
constexpr unsigned kBoxBytes = kRows * kColumns * sizeof(Bf16);

__global__ void NormalizeRows(const __grid_constant__ CUtensorMap from, const Bf16* weight,
                              const __grid_constant__ CUtensorMap to) {
  extern __shared__ __align__(128) Bf16 boxes[];  // [kBoxes][kRows][kColumns]
  __shared__ __align__(8) uint64_t full;
  const int first = static_cast<int>(blockIdx.x) * kRows;
  if (threadIdx.x == 0) {
    ks::tma_prefetch(&from);
    ks::mbarrier_init(&full, 1);
    ks::mbarrier_fence_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ks::mbarrier_arrive_expect(&full, kBoxes * kBoxBytes);
    for (int box = 0; box < kBoxes; ++box) {
      ks::tma_load_2d(boxes + box * kRows * kColumns, &from, box * kColumns, first, &full);
    }
  }
  ks::mbarrier_wait(&full, 0);
  for (int row = 0; row < kRows; ++row) {
    const auto at = [row](int i) { return (i / kColumns * kRows + row) * kColumns + i % kColumns; };
    float sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < kHidden; i += kThreads) {
      const float value = __bfloat162float(boxes[at(i)]);
      sum += value * value;
    }
    const float factor = rsqrtf(BlockSum(sum) / kHidden + kEpsilon);
    for (int i = static_cast<int>(threadIdx.x); i < kHidden; i += kThreads) {
      boxes[at(i)] =
          __float2bfloat16(__bfloat162float(boxes[at(i)]) * factor * __bfloat162float(weight[i]));
    }
  }
  ks::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int box = 0; box < kBoxes; ++box) {
      ks::tma_store_2d(&to, box * kColumns, first, boxes + box * kRows * kColumns);
    }
    ks::bulk_commit();
    ks::bulk_wait<0>();
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const auto rows = static_cast<uint64_t>(args->batch_size);
  constexpr int kShared = kBoxes * static_cast<int>(kBoxBytes) + 128;
  CUtensorMap from, to;
  KSEARCH_CHECK(ks::make_tensor_map_2d(&from, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, corpus::Input(args),
                                       rows, kHidden, kHidden * 2, kRows, kColumns,
                                       CU_TENSOR_MAP_SWIZZLE_NONE));
  KSEARCH_CHECK(ks::make_tensor_map_2d(&to, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, corpus::Output(args),
                                       rows, kHidden, kHidden * 2, kRows, kColumns,
                                       CU_TENSOR_MAP_SWIZZLE_NONE));
  NormalizeRows<<<static_cast<unsigned>((rows + kRows - 1) / kRows), corpus::kThreads, kShared,
                  stream>>>(from, corpus::Weight(args), to);
  KSEARCH_LAUNCH_CHECK();
  return 0;
}
