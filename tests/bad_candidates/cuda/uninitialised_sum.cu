// Adds to a sum in the workspace that it never sets to zero.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void AddSquares(const Bf16* x, int hidden, float* sums) {
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    sum += __bfloat162float(x[i]) * __bfloat162float(x[i]);
  }
  sum = corpus::BlockSum(sum);
  if (threadIdx.x == 0) atomicAdd(&sums[blockIdx.x], sum);
}
__global__ void Scale(const Bf16* x, const Bf16* weight, int hidden, const float* sums, Bf16* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  const float factor = rsqrtf(sums[blockIdx.x] / static_cast<float>(hidden) + corpus::kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    y[at + i] =
        __float2bfloat16(__bfloat162float(x[at + i]) * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->batch_size * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args->batch_size));
  auto* sums = static_cast<float*>(args->workspace);
  const int hidden = static_cast<int>(args->hidden_size);
  AddSquares<<<grid, corpus::kThreads, 0, stream>>>(corpus::Input(args), hidden, sums);
  Scale<<<grid, corpus::kThreads, 0, stream>>>(corpus::Input(args), corpus::Weight(args), hidden,
                                               sums, corpus::Output(args));
  return cudaGetLastError();
}
