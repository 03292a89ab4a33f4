// One block a row, two passes over it, 16-byte loads and stores.
#include "rows.cuh"
#include "variant.h"

namespace {

__global__ void __launch_bounds__(kThreads)
    Normalize(const Vector* x, const Vector* weight, float reciprocal_hidden, Vector* y) {
  __shared__ float warp_sums[kThreads / 32];
  x += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  y += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  float sum = 0;
  for (int i = threadIdx.x; i < kRowVectors; i += kThreads) sum += SumOfSquares(x[i]);
  const float factor = RowFactor<kThreads>(sum, reciprocal_hidden, warp_sums);
  for (int i = threadIdx.x; i < kRowVectors; i += kThreads) {
    y[i] = Scaled(x[i], factor, weight[i]);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), kThreads, 0, stream>>>(
      AsVectors(args->hidden_states), AsVectors(args->weight), 1.0f / kHidden,
      AsVectors(args->output));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
