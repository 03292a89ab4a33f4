// Asks for shared memory and a carve-out in every call, and for occupancy, as libraries do.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
constexpr int kHidden = 4096;
__global__ void Run(const Bf16* x, const Bf16* weight, int rows, Bf16* y) {
  extern __shared__ float row[];
  for (int r = static_cast<int>(blockIdx.x); r < rows; r += static_cast<int>(gridDim.x)) {
    const int64_t at = static_cast<int64_t>(r) * kHidden;
    float sum = 0;
    for (int i = threadIdx.x; i < kHidden; i += corpus::kThreads) {
      row[i] = __bfloat162float(x[at + i]);
      sum += row[i] * row[i];
    }
    const float factor = rsqrtf(corpus::BlockSum(sum) / kHidden + corpus::kEpsilon);
    for (int i = threadIdx.x; i < kHidden; i += corpus::kThreads) {
      y[at + i] = __float2bfloat16(row[i] * factor * __bfloat162float(weight[i]));
    }
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  constexpr int kBytes = 100 << 10;
  int device = 0, processors = 0, blocks = 0;
  cudaError_t error = cudaFuncSetAttribute(Run, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error == cudaSuccess) {
    error = cudaFuncSetAttribute(Run, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
  }
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Run, corpus::kThreads, kBytes);
  }
  if (error == cudaSuccess) error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return error;
  const int64_t most = static_cast<int64_t>(processors) * blocks;
  const int64_t rows = args->batch_size;
  Run<<<dim3(static_cast<unsigned>(rows < most ? rows : most)), corpus::kThreads, kBytes, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<int>(rows), corpus::Output(args));
  return cudaGetLastError();
}
