// Tiles of 4 rows and two vectors of C live in eight registers for the whole sum over k; B is
// read in place.
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

constexpr int64_t kRows = 4;
constexpr int64_t kCols = 2 * kLanes;

inline Vec Load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void Store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

void Tile(int64_t K, int64_t N, const float* a, const float* b, float* c) {
  Vec left[kRows] = {}, right[kRows] = {};
  for (int64_t k = 0; k < K; ++k, b += N) {
    const Vec b0 = Load(b), b1 = Load(b + kLanes);
#pragma GCC unroll 4
    for (int64_t r = 0; r < kRows; ++r) {
      const float x = a[r * K + k];
      left[r] += x * b0;
      right[r] += x * b1;
    }
  }
#pragma GCC unroll 4
  for (int64_t r = 0; r < kRows; ++r) {
    Store(c + r * N, left[r]);
    Store(c + r * N + kLanes, right[r]);
  }
}

// Any rest of C: rows [i0, i1), columns [j0, j1).
void Rest(const KsearchArgs* args, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  for (int64_t i = i0; i < i1; ++i) {
    for (int64_t j = j0; j < j1; ++j) args->C[i * args->N + j] = 0;
    for (int64_t k = 0; k < args->K; ++k) {
      const float a = args->A[i * args->K + k];
      for (int64_t j = j0; j < j1; ++j) args->C[i * args->N + j] += a * args->B[k * args->N + j];
    }
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  const int64_t rows = M - M % kRows, cols = N - N % kCols;
  for (int64_t j = 0; j < cols; j += kCols) {
    for (int64_t i = 0; i < rows; i += kRows) {
      Tile(K, N, args->A + i * K, args->B + j, args->C + i * N + j);
    }
  }
  Rest(args, rows, M, 0, cols);
  return 0;
}
