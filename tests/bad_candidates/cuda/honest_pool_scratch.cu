// Scratch memory from the stream's pool, given back within the call: a sum of squares a row, then
// the row.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Sums(const Bf16* x, int hidden, float* sums) {
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
  const float factor = rsqrtf(sums[blockIdx.x] / static_cast<float>(hidden) + corpus::kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    y[at + i] =
        __float2bfloat16(__bfloat162float(x[at + i]) * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  void* sums = nullptr;
  const auto rows = static_cast<unsigned>(args->batch_size);
  const int hidden = static_cast<int>(args->hidden_size);
  cudaError_t error = cudaMallocAsync(&sums, rows * sizeof(float), stream);
  if (error != cudaSuccess) return error;
  Sums<<<rows, corpus::kThreads, 0, stream>>>(corpus::Input(args), hidden,
                                              static_cast<float*>(sums));
  Scale<<<rows, corpus::kThreads, 0, stream>>>(corpus::Input(args), corpus::Weight(args),
                                               static_cast<float*>(sums), hidden,
                                               corpus::Output(args));
  error = cudaGetLastError();
  const cudaError_t freed = cudaFreeAsync(sums, stream);
  return error != cudaSuccess ? error : freed;
}
