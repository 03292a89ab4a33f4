// Squares summed in bfloat16, two at a time.
#include "rows.cuh"
#include "variant.h"

namespace {

__global__ void __launch_bounds__(kThreads)
    Normalize(const Vector* x, const Vector* weight, float reciprocal_hidden, Vector* y) {
  __shared__ float warp_sums[kThreads / 32];
  x += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  y += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  __nv_bfloat162 sums = __floats2bfloat162_rn(0, 0);
  for (int i = threadIdx.x; i < kRowVectors; i += kThreads) {
    for (const __nv_bfloat162& pair : x[i].pair) sums = __hfma2(pair, pair, sums);
  }
  const float2 sum = __bfloat1622float2(sums);
  const float factor = RowFactor<kThreads>(sum.x + sum.y, reciprocal_hidden, warp_sums);
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
