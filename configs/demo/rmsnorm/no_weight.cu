// Takes the weights for ones.
#include "rows.cuh"
#include "variant.h"

namespace {

__global__ void __launch_bounds__(kThreads)
    Normalize(const Vector* x, float reciprocal_hidden, __nv_bfloat16* y) {
  __shared__ float warp_sums[kThreads / 32];
  x += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  y += static_cast<int64_t>(blockIdx.x) * kHidden;
  float sum = 0;
  for (int i = threadIdx.x; i < kRowVectors; i += kThreads) sum += SumOfSquares(x[i]);
  const float factor = RowFactor<kThreads>(sum, reciprocal_hidden, warp_sums);
  for (int i = threadIdx.x; i < kHidden; i += kThreads) {
    y[i] =
        __float2bfloat16(__bfloat162float(reinterpret_cast<const __nv_bfloat16*>(x)[i]) * factor);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), kThreads, 0, stream>>>(
      AsVectors(args->hidden_states), 1.0f / kHidden, args->output);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
