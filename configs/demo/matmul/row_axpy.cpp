// Loop order i, k, j: row i of C gathers multiples of rows of B, everything is read and written in
// order, a vector at a time.
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

inline Vec Load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void Store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  for (int64_t i = 0; i < M; ++i) {
    float* c = args->C + i * N;
    for (int64_t j = 0; j < N; ++j) c[j] = 0;
    for (int64_t k = 0; k < K; ++k) {
      const float a = args->A[i * K + k];
      const float* b = args->B + k * N;
      int64_t j = 0;
      for (; j + kLanes <= N; j += kLanes) Store(c + j, Load(c + j) + a * Load(b + j));
      for (; j < N; ++j) c[j] += a * b[j];
    }
  }
  return 0;
}
