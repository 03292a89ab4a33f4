// Scratch in static device memory, written anew by every call before it is read.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
constexpr int kMaxRows = 1 << 16;
__device__ float factors[kMaxRows];

__global__ void Factors(const Bf16* x, int hidden) {
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    sum += __bfloat162float(x[i]) * __bfloat162float(x[i]);
  }
  sum = corpus::BlockSum(sum);
  if (threadIdx.x == 0) {
    factors[blockIdx.x] = rsqrtf(sum / static_cast<float>(hidden) + corpus::kEpsilon);
  }
}
__global__ void Scale(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  const float factor = factors[blockIdx.x];
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    y[at + i] =
        __float2bfloat16(__bfloat162float(x[at + i]) * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  if (args->batch_size > kMaxRows) return 1;
  const dim3 grid(static_cast<unsigned>(args->batch_size));
  const int hidden = static_cast<int>(args->hidden_size);
  Factors<<<grid, corpus::kThreads, 0, stream>>>(corpus::Input(args), hidden);
  Scale<<<grid, corpus::kThreads, 0, stream>>>(corpus::Input(args), corpus::Weight(args), hidden,
                                               corpus::Output(args));
  return cudaGetLastError();
}
