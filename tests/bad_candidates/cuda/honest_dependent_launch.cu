// Two kernels, the second launched early and waiting for the first (programmatic dependent launch).
#include "ksearch_cuda.h"
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Factors(const Bf16* x, int hidden, float* factors) {
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    sum += __bfloat162float(x[i]) * __bfloat162float(x[i]);
  }
  sum = corpus::BlockSum(sum);
  if (threadIdx.x == 0) {
    factors[blockIdx.x] = rsqrtf(sum / static_cast<float>(hidden) + corpus::kEpsilon);
  }
  ks::launch_dependents();
}
__global__ void Scale(const Bf16* x, const Bf16* weight, int hidden, const float* factors,
                      Bf16* y) {
  ks::wait_for_previous_kernel();
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  const float factor = factors[blockIdx.x];
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
  if (args->batch_size == 0) return 0;
  const dim3 grid(static_cast<unsigned>(args->batch_size));
  const int hidden = static_cast<int>(args->hidden_size);
  auto* factors = static_cast<float*>(args->workspace);
  Factors<<<grid, corpus::kThreads, 0, stream>>>(corpus::Input(args), hidden, factors);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(corpus::kThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, Scale, corpus::Input(args), corpus::Weight(args), hidden,
                            static_cast<const float*>(factors), corpus::Output(args));
}
