// Sums, then rows: the second kernel may begin early, and waits for the first before it reads sums.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Sums(const Bf16* x, int hidden, float* sums) {
  asm volatile("griddepcontrol.launch_dependents;");
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    const float value = __bfloat162float(x[at + i]);
    sum += value * value;
  }
  sum = corpus::BlockSum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
__global__ void Scale(const Bf16* x, const Bf16* weight, const float* sums, int hidden, Bf16* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  const float first = __bfloat162float(weight[threadIdx.x]);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const float factor = rsqrtf(sums[blockIdx.x] / static_cast<float>(hidden) + corpus::kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    const float scale = i == static_cast<int>(threadIdx.x) ? first : __bfloat162float(weight[i]);
    y[at + i] = __float2bfloat16(__bfloat162float(x[at + i]) * factor * scale);
  }
}
}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->batch_size * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  auto* sums = static_cast<float*>(args->workspace);
  const auto rows = static_cast<unsigned>(args->batch_size);
  const int hidden = static_cast<int>(args->hidden_size);
  Sums<<<rows, corpus::kThreads, 0, stream>>>(corpus::Input(args), hidden, sums);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(rows);
  config.blockDim = dim3(corpus::kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) {
    error = cudaLaunchKernelEx(&config, Scale, corpus::Input(args), corpus::Weight(args),
                               static_cast<const float*>(sums), hidden, corpus::Output(args));
  }
  return error;
}
