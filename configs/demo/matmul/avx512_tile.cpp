// A 14 x 32 tile in the thirty-two registers of AVX-512, with masked edges.
#include <immintrin.h>

#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr int64_t kRows = 14;

__attribute__((target("avx512f"))) void Tile(int64_t K, int64_t N, const float* a, const float* b,
                                             float* c, __mmask16 edge) {
  __m512 sums[kRows][2] = {};
  for (int64_t k = 0; k < K; ++k, b += N) {
    const __m512 b0 = _mm512_loadu_ps(b);
    const __m512 b1 = _mm512_mask_loadu_ps(edge, b + 16);
    for (int64_t r = 0; r < kRows; ++r) {
      const __m512 x = _mm512_broadcast_ss(a + r * K + k);
      sums[r][0] = _mm512_fmadd_ps(x, b0, sums[r][0]);
      sums[r][1] = _mm512_fmadd_ps(x, b1, sums[r][1]);
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(c + r * N, sums[r][0]);
    _mm512_mask_storeu_ps(c + r * N + 16, sums[r][1], edge);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const __mmask16 edge = _mm512_int2mask((1 << args->N % 16) - 1);
  for (int64_t i = 0; i < args->M; i += kRows) {
    for (int64_t j = 0; j < args->N; j += 32) {
      Tile(args->K, args->N, args->A + i * args->K, args->B + j, args->C + i * args->N + j, edge);
    }
  }
  return 0;
}
