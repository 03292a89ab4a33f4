// Root-mean-square normalisation: one block a row, everything in double.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kThreads = 256;
constexpr double kEpsilon = 1e-5;

__global__ void Normalize(const __nv_bfloat16* x, const __nv_bfloat16* weight, int64_t hidden,
                          __nv_bfloat16* y) {
  __shared__ double squares[kThreads];
  x += blockIdx.x * hidden;
  y += blockIdx.x * hidden;
  double sum = 0;
  for (int64_t i = threadIdx.x; i < hidden; i += kThreads) {
    const double value = static_cast<double>(__bfloat162float(x[i]));
    sum += value * value;
  }
  squares[threadIdx.x] = sum;
  __syncthreads();
  double total = 0;
  for (int t = 0; t < kThreads; ++t) total += squares[t];
  const double factor = 1.0 / sqrt(total / static_cast<double>(hidden) + kEpsilon);
  for (int64_t i = threadIdx.x; i < hidden; i += kThreads) {
    const double value = static_cast<double>(__bfloat162float(x[i]));
    const double scaled = value * factor * static_cast<double>(__bfloat162float(weight[i]));
    y[i] = __float2bfloat16(static_cast<float>(scaled));
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const dim3 grid(static_cast<unsigned>(args->batch_size));
  Normalize<<<grid, kThreads, 0, stream>>>(
      reinterpret_cast<const __nv_bfloat16*>(args->hidden_states),
      reinterpret_cast<const __nv_bfloat16*>(args->weight), args->hidden_size,
      reinterpret_cast<__nv_bfloat16*>(args->output));
  return cudaGetLastError();
}
