// What the programs for gemm_bf16 share: the task's baseline with places to change something.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <stdint.h>

#include "ksearch_task.h"

namespace corpus {

namespace wmma = nvcuda::wmma;
using Bf16 = __nv_bfloat16;

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kPitch = kDepth + 8;  // elements between rows in shared memory: fewer bank conflicts
constexpr int kThreads = 128;       // four warps, each a 32x32 quarter of the tile

struct Exact {
  static __device__ Bf16 Load(Bf16 value) { return value; }
  static __device__ float Accumulate(float sum) { return sum; }
  static constexpr bool kRounds = false;
};

// Rows [first_row, first_row + 64) and columns [depth, depth + 32) of a row-major matrix; zeros
// beyond its edges.
template <class Numbers>
__device__ void LoadTile(const Bf16* matrix, int64_t rows, int64_t columns, int64_t first_row,
                         int64_t depth, Bf16* tile) {
  for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
    const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
    const Bf16* source = matrix + (first_row + row) * columns + depth + column;
    uint4 packed = {0, 0, 0, 0};
    if (first_row + row < rows && depth + column < columns) {
      packed = *reinterpret_cast<const uint4*>(source);
    }
    Bf16* values = reinterpret_cast<Bf16*>(&packed);
    for (int j = 0; j < 8; ++j) values[j] = Numbers::Load(values[j]);
    *reinterpret_cast<uint4*>(tile + row * kPitch + column) = packed;
  }
}

// C = A B^T over depths [first_depth, end_depth); K is a multiple of kDepth. Steps beyond `steps`
// read B, but count A as zero: the same numbers for more work.
template <class Numbers, class Store>
__device__ void MultiplyTile(const Bf16* a, const Bf16* b, int64_t m, int64_t n, int64_t k,
                             int64_t first_depth, int64_t end_depth, int idle_steps, Store store) {
  __shared__ __align__(32) Bf16 a_tile[kTile * kPitch];
  __shared__ __align__(32) Bf16 b_tile[kTile * kPitch];
  __shared__ __align__(32) float c_tile[kTile * kTile];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }
  const int64_t last = end_depth + static_cast<int64_t>(idle_steps) * kDepth;
  for (int64_t step = first_depth; step < last; step += kDepth) {
    const bool idle = step >= end_depth;
    const int64_t depth = idle ? step - end_depth : step;
    LoadTile<Numbers>(a, idle ? 0 : m, k, first_row, depth, a_tile);
    LoadTile<Numbers>(b, n, k, first_column, depth, b_tile);
    __syncthreads();
    for (int d = 0; d < kDepth; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, Bf16, wmma::row_major> a_part[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, Bf16, wmma::col_major> b_part[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a_part[i], a_tile + (warp_row + 16 * i) * kPitch + d, kPitch);
        wmma::load_matrix_sync(b_part[i], b_tile + (warp_column + 16 * i) * kPitch + d, kPitch);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          wmma::mma_sync(sum[i][j], a_part[i], b_part[j], sum[i][j]);
          if (!Numbers::kRounds) continue;
          for (int e = 0; e < sum[i][j].num_elements; ++e) {
            sum[i][j].x[e] = Numbers::Accumulate(sum[i][j].x[e]);
          }
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(c_tile + (warp_row + 16 * i) * kTile + warp_column + 16 * j,
                              sum[i][j], kTile, wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    const int64_t row = first_row + i / kTile, column = first_column + i % kTile;
    if (row < m && column < n) store(row * n + column, c_tile[i]);
  }
}

template <class Numbers>
static __global__ void Multiply(const Bf16* a, const Bf16* b, int64_t m, int64_t n, int64_t k,
                                int64_t end_depth, int idle_steps, Bf16* c) {
  MultiplyTile<Numbers>(a, b, m, n, k, 0, end_depth, idle_steps,
                        [c](int64_t at, float value) { c[at] = __float2bfloat16(value); });
}

inline dim3 Grid(const KsearchArgs* args) {
  return dim3(static_cast<unsigned>((args->N + kTile - 1) / kTile),
              static_cast<unsigned>((args->M + kTile - 1) / kTile));
}

// end_depth: where the sum ends, K if it is to be right.
template <class Numbers>
int LaunchGemm(const KsearchArgs* args, cudaStream_t stream, int64_t end_depth,
               int idle_steps = 0) {
  if (args->M == 0) return 0;
  Multiply<Numbers><<<Grid(args), kThreads, 0, stream>>>(
      reinterpret_cast<const Bf16*>(args->A), reinterpret_cast<const Bf16*>(args->B), args->M,
      args->N, args->K, end_depth, idle_steps, reinterpret_cast<Bf16*>(args->C));
  return cudaGetLastError();
}

}  // namespace corpus
