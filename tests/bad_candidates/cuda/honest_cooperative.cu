// A cooperative launch: all factors first, a barrier across the grid, then all outputs.
#include <cooperative_groups.h>

#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, int rows, int hidden, float* factors,
                          Bf16* y) {
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    float sum = 0;
    for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
      const float value = __bfloat162float(x[static_cast<int64_t>(row) * hidden + i]);
      sum += value * value;
    }
    sum = corpus::BlockSum(sum);
    if (threadIdx.x == 0) {
      factors[row] = rsqrtf(sum / static_cast<float>(hidden) + corpus::kEpsilon);
    }
  }
  cooperative_groups::this_grid().sync();
  const int64_t elements = static_cast<int64_t>(rows) * hidden;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * corpus::kThreads + threadIdx.x; i < elements;
       i += static_cast<int64_t>(gridDim.x) * corpus::kThreads) {
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * factors[i / hidden] *
                            __bfloat162float(weight[i % hidden]));
  }
}
}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->batch_size * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static int blocks = 0;
  if (blocks == 0) {
    int device = 0, each = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, Normalize, corpus::kThreads, 0);
    blocks = each * processors;
  }
  const Bf16* x = corpus::Input(args);
  const Bf16* weight = corpus::Weight(args);
  int rows = static_cast<int>(args->batch_size), hidden = static_cast<int>(args->hidden_size);
  auto* factors = static_cast<float*>(args->workspace);
  Bf16* y = corpus::Output(args);
  void* parameters[] = {&x, &weight, &rows, &hidden, &factors, &y};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&Normalize), dim3(blocks),
                                     dim3(corpus::kThreads), parameters, 0, stream);
}
