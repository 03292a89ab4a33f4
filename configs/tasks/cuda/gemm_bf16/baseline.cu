// C = A B^T with 64x64 tiles through shared memory on the tensor cores (warp-level matrix
// fragments), no pipelining.
#include <cuda_bf16.h>
#include <mma.h>

#include "ksearch_task.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kPitch = kDepth + 8;  // elements between rows in shared memory: fewer bank conflicts
constexpr int kThreads = 128;       // four warps, each a 32x32 quarter of the tile

// Rows [first_row, first_row + 64) and columns [depth, depth + 32) of a row-major matrix; zeros
// beyond its edges.
__device__ void LoadTile(const __nv_bfloat16* matrix, int64_t rows, int64_t columns,
                         int64_t first_row, int64_t depth, __nv_bfloat16* tile) {
  for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
    const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
    const __nv_bfloat16* source = matrix + (first_row + row) * columns + depth + column;
    __nv_bfloat16* target = tile + row * kPitch + column;
    if (first_row + row < rows && columns % 8 == 0 && depth + column < columns) {
      *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(source);
    } else {
      for (int j = 0; j < 8; ++j) {
        const bool inside = first_row + row < rows && depth + column + j < columns;
        target[j] = inside ? source[j] : __float2bfloat16(0.0f);
      }
    }
  }
}

__global__ void Multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, int64_t m, int64_t n,
                         int64_t k, __nv_bfloat16* c) {
  __shared__ __align__(32) __nv_bfloat16 a_tile[kTile * kPitch];
  __shared__ __align__(32) __nv_bfloat16 b_tile[kTile * kPitch];
  __shared__ __align__(32) float c_tile[kTile * kTile];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }
  for (int64_t depth = 0; depth < k; depth += kDepth) {
    LoadTile(a, m, k, first_row, depth, a_tile);
    LoadTile(b, n, k, first_column, depth, b_tile);
    __syncthreads();
    for (int d = 0; d < kDepth; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a_part[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b_part[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a_part[i], a_tile + (warp_row + 16 * i) * kPitch + d, kPitch);
        wmma::load_matrix_sync(b_part[i], b_tile + (warp_column + 16 * i) * kPitch + d, kPitch);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a_part[i], b_part[j], sum[i][j]);
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
    if (row < m && column < n) c[row * n + column] = __float2bfloat16(c_tile[i]);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->M == 0) return 0;
  const dim3 grid(static_cast<unsigned>((args->N + kTile - 1) / kTile),
                  static_cast<unsigned>((args->M + kTile - 1) / kTile));
  Multiply<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->A),
                                          reinterpret_cast<const __nv_bfloat16*>(args->B), args->M,
                                          args->N, args->K,
                                          reinterpret_cast<__nv_bfloat16*>(args->C));
  return cudaGetLastError();
}
