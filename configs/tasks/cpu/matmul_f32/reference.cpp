// C = A * B, each element summed in double.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += static_cast<double>(args->A[i * K + k]) * static_cast<double>(args->B[k * N + j]);
      }
      args->C[i * N + j] = static_cast<float>(sum);
    }
  }
  return 0;
}
