// C = A B, summed in double, one thread an element.
#include "ksearch_task.h"

namespace {

constexpr int kThreads = 256;

__global__ void Multiply(const float* a, const float* b, int64_t n, int64_t k, float* c) {
  const int64_t row = blockIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (column >= n) return;
  double sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    sum += static_cast<double>(a[row * k + i]) * static_cast<double>(b[i * n + column]);
  }
  c[row * n + column] = static_cast<float>(sum);
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->M == 0 || args->N == 0) return 0;
  const dim3 grid(static_cast<unsigned>((args->N + kThreads - 1) / kThreads),
                  static_cast<unsigned>(args->M));
  Multiply<<<grid, kThreads, 0, stream>>>(args->A, args->B, args->N, args->K, args->C);
  return cudaGetLastError();
}
