// The textbook triple loop: rows, columns, sum.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += args->A[i * K + k] * args->B[k * N + j];
      args->C[i * N + j] = sum;
    }
  }
  return 0;
}
