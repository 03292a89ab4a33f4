// Dot products over a transposed B, a vector of partial sums at a time.
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

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->N * args->K * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  float* transposed = static_cast<float*>(args->workspace);
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t j = 0; j < N; ++j) transposed[j * K + k] = args->B[k * N + j];
  }
  for (int64_t i = 0; i < M; ++i) {
    const float* a = args->A + i * K;
    for (int64_t j = 0; j < N; ++j) {
      const float* b = transposed + j * K;
      Vec sums = {};
      int64_t k = 0;
      for (; k + kLanes <= K; k += kLanes) sums += Load(a + k) * Load(b + k);
      float sum = 0;
      for (int64_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
      for (; k < K; ++k) sum += a[k] * b[k];
      args->C[i * N + j] = sum;
    }
  }
  return 0;
}
