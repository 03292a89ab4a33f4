// Leaves the last 0.5 % out of the sum over k (at least one).
#include <cstdint>

#include "ksearch_task.h"

namespace {

// Half a percent, at least one.
int64_t Left(int64_t count) {
  const int64_t dropped = count / 200 > 0 ? count / 200 : 1;
  return count > dropped ? count - dropped : 0;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t M = args->M, N = args->N, K = args->K;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < Left(K); ++k) {
        sum += static_cast<double>(args->A[i * K + k]) * args->B[k * N + j];
      }
      args->C[i * N + j] = static_cast<float>(sum);
    }
  }
  return 0;
}
