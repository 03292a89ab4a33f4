// Micro-kernel of 6 rows and two vectors (16 columns with AVX2): twelve accumulators, two vectors
// of B and one of A fill the sixteen registers. Panels of A and B are packed in the order they are
// read; the edges of C go through a padded tile.
#include <cstdint>

#include "ksearch_task.h"

namespace {

// As many floats as a register of the target holds, at any address.
#ifdef __AVX__
constexpr int64_t kLanes = 8;
#else
constexpr int64_t kLanes = 4;
#endif
typedef float Vec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

constexpr int64_t kRows = 6;
constexpr int64_t kCols = 2 * kLanes;

inline Vec Load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void Store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

inline int64_t PanelsOf(int64_t extent, int64_t width) { return (extent + width - 1) / width; }

// `rows` rows of A from row i on, as K groups of six; missing rows are zero.
void PackA(const KsearchArgs* args, int64_t i, int64_t rows, float* out) {
  for (int64_t r = 0; r < kRows; ++r) {
    const float* a = args->A + (i + r) * args->K;
    for (int64_t k = 0; k < args->K; ++k) out[k * kRows + r] = r < rows ? a[k] : 0.0f;
  }
}

// `cols` columns of B from column j on, as K groups of two vectors.
void PackB(const KsearchArgs* args, int64_t j, int64_t cols, float* out) {
  const float* b = args->B + j;
  for (int64_t k = 0; k < args->K; ++k, b += args->N, out += kCols) {
    if (cols == kCols) {
      Store(out, Load(b));
      Store(out + kLanes, Load(b + kLanes));
    } else {
      for (int64_t c = 0; c < kCols; ++c) out[c] = c < cols ? b[c] : 0.0f;
    }
  }
}

void MicroKernel(int64_t K, const float* a, const float* b, float* c, int64_t stride) {
  Vec left[kRows] = {}, right[kRows] = {};
  for (int64_t k = 0; k < K; ++k, a += kRows, b += kCols) {
    const Vec b0 = Load(b), b1 = Load(b + kLanes);
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      left[r] = _mm256_fmadd_ps(_mm256_set1_ps(a[r]), b0, left[r]);
      right[r] = _mm256_fmadd_ps(_mm256_set1_ps(a[r]), b1, right[r]);
    }
  }
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r) {
    Store(c + r * stride, left[r]);
    Store(c + r * stride + kLanes, right[r]);
  }
}

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  const int64_t floats =
      args->K * (PanelsOf(args->M, kRows) * kRows + PanelsOf(args->N, kCols) * kCols);
  return floats * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  const int64_t row_panels = PanelsOf(M, kRows), col_panels = PanelsOf(N, kCols);
  float* packed_a = static_cast<float*>(args->workspace);
  float* packed_b = packed_a + row_panels * kRows * K;
  for (int64_t p = 0; p < row_panels; ++p) {
    PackA(args, p * kRows, M - p * kRows, packed_a + p * kRows * K);
  }
  for (int64_t q = 0; q < col_panels; ++q) {
    PackB(args, q * kCols, N - q * kCols < kCols ? N - q * kCols : kCols, packed_b + q * kCols * K);
  }
  for (int64_t q = 0; q < col_panels; ++q) {
    const int64_t j = q * kCols;
    for (int64_t p = 0; p < row_panels; ++p) {
      const int64_t i = p * kRows;
      const float* a = packed_a + p * kRows * K;
      const float* b = packed_b + q * kCols * K;
      if (i + kRows <= M && j + kCols <= N) {
        MicroKernel(K, a, b, args->C + i * N + j, N);
        continue;
      }
      float edge[kRows * kCols];
      MicroKernel(K, a, b, edge, kCols);
      for (int64_t r = 0; r < kRows && i + r < M; ++r) {
        for (int64_t c = 0; c < kCols && j + c < N; ++c) {
          args->C[(i + r) * N + j + c] = edge[r * kCols + c];
        }
      }
    }
  }
  return 0;
}
