// A 14 x 32 tile in the thirty-two registers of AVX-512, with masked edges.
#include <immintrin.h>

#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr int64_t kRows = 14;

__attribute__((target("avx512f"))) void Tile(int64_t K, int64_t N, int64_t rows, const float* a,
                                             const float* b, float* c, __mmask32 edge) {
  __m512 sums[kRows][2] = {};
  for (int64_t k = 0; k < K; ++k, b += N) {
    const __m512 b0 = _mm512_maskz_loadu_ps(edge.low(), b);
    const __m512 b1 = _mm512_maskz_loadu_ps(edge.high(), b + 16);
    for (int64_t r = 0; r < rows; ++r) {
      const __m512 x = _mm512_set1_ps(a[r * K + k]);
      sums[r][0] = _mm512_fmadd_ps(x, b0, sums[r][0]);
      sums[r][1] = _mm512_fmadd_ps(x, b1, sums[r][1]);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    _mm512_mask_storeu_ps(c + r * N, edge.low(), sums[r][0]);
    _mm512_mask_storeu_ps(c + r * N + 16, edge.high(), sums[r][1]);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->M; i += kRows) {
    const int64_t rows = args->M - i < kRows ? args->M - i : kRows;
    for (int64_t j = 0; j < args->N; j += 32) {
      const int64_t cols = args->N - j < 32 ? args->N - j : 32;
      const __mmask32 edge = cols == 32 ? ~0u : (1u << cols) - 1;
      Tile(args->K, args->N, rows, args->A + i * args->K, args->B + j, args->C + i * args->N + j,
           edge);
    }
  }
  return 0;
}
