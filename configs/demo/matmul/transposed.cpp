// B is transposed first, so that both factors of every dot product are read in order; four partial
// sums keep the adder busy.
#include <cstdint>

#include "ksearch_task.h"

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
      float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      int64_t k = 0;
      for (; k + 4 <= K; k += 4) {
        s0 += a[k] * b[k];
        s1 += a[k + 1] * b[k + 1];
        s2 += a[k + 2] * b[k + 2];
        s3 += a[k + 3] * b[k + 3];
      }
      for (; k < K; ++k) s0 += a[k] * b[k];
      args->C[i * N + j] = (s0 + s1) + (s2 + s3);
    }
  }
  return 0;
}
