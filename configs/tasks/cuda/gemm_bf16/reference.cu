// C = A B^T. Products of two bf16 are exact in float; 32 of them are summed in float, the rest in
// double.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kTile = 64;   // of C, each way
constexpr int kDepth = 32;  // of K
constexpr int kSide = 16;   // threads each way; each owns every 16th row and column of the tile
constexpr int kOwn = kTile / kSide;

__device__ float At(const __nv_bfloat16* matrix, int64_t rows, int64_t columns, int64_t row,
                    int64_t column) {
  return row < rows && column < columns ? __bfloat162float(matrix[row * columns + column]) : 0.0f;
}

__global__ void Multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, int64_t m, int64_t n,
                         int64_t k, __nv_bfloat16* c) {
  __shared__ float a_tile[kDepth][kTile + 1];
  __shared__ float b_tile[kDepth][kTile + 1];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  double sum[kOwn][kOwn] = {};
  for (int64_t depth = 0; depth < k; depth += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kSide * kSide) {
      const int row = i / kDepth, column = i % kDepth;
      a_tile[column][row] = At(a, m, k, first_row + row, depth + column);
      b_tile[column][row] = At(b, n, k, first_column + row, depth + column);
    }
    __syncthreads();
    float part[kOwn][kOwn] = {};
    for (int d = 0; d < kDepth; ++d) {
      for (int i = 0; i < kOwn; ++i) {
        for (int j = 0; j < kOwn; ++j) {
          part[i][j] += a_tile[d][y + i * kSide] * b_tile[d][x + j * kSide];
        }
      }
    }
    for (int i = 0; i < kOwn; ++i) {
      for (int j = 0; j < kOwn; ++j) sum[i][j] += static_cast<double>(part[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int64_t row = first_row + y + i * kSide, column = first_column + x + j * kSide;
      if (row < m && column < n) {
        c[row * n + column] = __float2bfloat16(static_cast<float>(sum[i][j]));
      }
    }
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->M == 0) return 0;
  const dim3 grid(static_cast<unsigned>((args->N + kTile - 1) / kTile),
                  static_cast<unsigned>((args->M + kTile - 1) / kTile));
  constexpr int kThreads = kSide * kSide;
  Multiply<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->A),
                                          reinterpret_cast<const __nv_bfloat16*>(args->B), args->M,
                                          args->N, args->K,
                                          reinterpret_cast<__nv_bfloat16*>(args->C));
  return cudaGetLastError();
}
