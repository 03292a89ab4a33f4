// Root-mean-square normalisation: one block a row, two passes over it, one element at a time.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kThreads = 256;
constexpr float kEpsilon = 1e-5f;

__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void Normalize(const __nv_bfloat16* x, const __nv_bfloat16* weight, int hidden,
                          __nv_bfloat16* y) {
  __shared__ float warp_sums[kThreads / 32];
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  y += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    const float value = __bfloat162float(x[i]);
    sum += value * value;
  }
  sum = WarpSum(sum);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) total += warp_sums[warp];
  const float factor = rsqrtf(total / static_cast<float>(hidden) + kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * factor * __bfloat162float(weight[i]));
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const dim3 grid(static_cast<unsigned>(args->batch_size));
  Normalize<<<grid, kThreads, 0, stream>>>(
      reinterpret_cast<const __nv_bfloat16*>(args->hidden_states),
      reinterpret_cast<const __nv_bfloat16*>(args->weight), static_cast<int>(args->hidden_size),
      reinterpret_cast<__nv_bfloat16*>(args->output));
  return cudaGetLastError();
}
