// Blocks of 8 x 8 x 8, each of A and B copied into a dense block first.
#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr int64_t kBlock = 8;

inline int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// The block of `matrix` (stride `stride`) at (row, col), `rows` x `cols` of it, padded with zeros.
void Copy(const float* matrix, int64_t stride, int64_t row, int64_t col, int64_t rows, int64_t cols,
          float block[kBlock][kBlock]) {
  for (int64_t r = 0; r < kBlock; ++r) {
    for (int64_t c = 0; c < kBlock; ++c) {
      block[r][c] = r < rows && c < cols ? matrix[(row + r) * stride + col + c] : 0.0f;
    }
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  float a[kBlock][kBlock], b[kBlock][kBlock], c[kBlock][kBlock];
  for (int64_t i0 = 0; i0 < M; i0 += kBlock) {
    for (int64_t j0 = 0; j0 < N; j0 += kBlock) {
      const int64_t rows = Smaller(kBlock, M - i0), cols = Smaller(kBlock, N - j0);
      for (auto& row : c) {
        for (float& element : row) element = 0;
      }
      for (int64_t k0 = 0; k0 < K; k0 += kBlock) {
        const int64_t depth = Smaller(kBlock, K - k0);
        Copy(args->A, K, i0, k0, rows, depth, a);
        Copy(args->B, N, k0, j0, depth, cols, b);
        for (int64_t i = 0; i < kBlock; ++i) {
          for (int64_t j = 0; j < kBlock; ++j) {
            float sum = c[i][j];
            for (int64_t k = 0; k < kBlock; ++k) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
          }
        }
      }
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < cols; ++j) args->C[(i0 + i) * N + j0 + j] = c[i][j];
      }
    }
  }
  return 0;
}
