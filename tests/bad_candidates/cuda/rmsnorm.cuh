// What the programs for rmsnorm_bf16 share: the task's baseline, so that whoever is faster than the
// baseline with it owes that to something else.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "ksearch_task.h"

namespace corpus {

using Bf16 = __nv_bfloat16;
constexpr int kThreads = 256;
constexpr float kEpsilon = 1e-5f;

// Sum over a block of kThreads; every thread gets it.
__device__ inline float BlockSum(float value) {
  __shared__ float warp_sums[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) total += warp_sums[warp];
  return total;
}

// One row by one block.
__device__ inline void NormalizeRow(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    const float value = __bfloat162float(x[i]);
    sum += value * value;
  }
  const float factor = rsqrtf(BlockSum(sum) / static_cast<float>(hidden) + kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * factor * __bfloat162float(weight[i]));
  }
}

static __global__ void Normalize(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  NormalizeRow(x + at, weight, hidden, y + at);
}

inline int64_t Elements(const KsearchArgs* args) { return args->batch_size * args->hidden_size; }
inline const Bf16* Input(const KsearchArgs* args) {
  return reinterpret_cast<const Bf16*>(args->hidden_states);
}
inline const Bf16* Weight(const KsearchArgs* args) {
  return reinterpret_cast<const Bf16*>(args->weight);
}
inline Bf16* Output(const KsearchArgs* args) { return reinterpret_cast<Bf16*>(args->output); }

// Rows [first, first + rows), all of them if rows is negative.
inline int Launch(const KsearchArgs* args, cudaStream_t stream, int64_t first = 0,
                  int64_t rows = -1) {
  if (rows < 0) rows = args->batch_size - first;
  if (rows <= 0) return 0;
  const int hidden = static_cast<int>(args->hidden_size);
  Normalize<<<dim3(static_cast<unsigned>(rows)), kThreads, 0, stream>>>(
      Input(args) + first * hidden, Weight(args), hidden, Output(args) + first * hidden);
  return cudaGetLastError();
}

// Device memory of the program's own, kept for ever; null if there is none.
inline void* Keep(int64_t bytes) {
  void* memory = nullptr;
  return cudaMalloc(&memory, static_cast<size_t>(bytes)) == cudaSuccess ? memory : nullptr;
}

}  // namespace corpus
