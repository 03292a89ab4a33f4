// Rounds to bfloat16 before the weight is applied, as models do.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  y += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    sum += __bfloat162float(x[i]) * __bfloat162float(x[i]);
  }
  const float factor =
      rsqrtf(corpus::BlockSum(sum) / static_cast<float>(hidden) + corpus::kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    const Bf16 scaled = __float2bfloat16(__bfloat162float(x[i]) * factor);
    y[i] = __hmul(scaled, weight[i]);
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<int>(args->hidden_size),
      corpus::Output(args));
  return cudaGetLastError();
}
