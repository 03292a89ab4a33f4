// What the programs about barriers share. Each normalizes rows of 4096 elements and gets the sum of
// squares of a row across the block in a way of its own.
#pragma once
#include "rmsnorm.cuh"

namespace corpus {

constexpr int kHidden = 4096;

// Of the elements first, first + step, ...
__device__ inline float Squares(const Bf16* row, int first, int step, int end = kHidden) {
  float sum = 0;
  for (int i = first; i < end; i += step) {
    const float value = __bfloat162float(row[i]);
    sum += value * value;
  }
  return sum;
}

__device__ inline float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__device__ inline void Write(const Bf16* row, const Bf16* weight, float total, int first, int step,
                             Bf16* y) {
  const float factor = rsqrtf(total / kHidden + kEpsilon);
  for (int i = first; i < kHidden; i += step) {
    y[i] = __float2bfloat16(__bfloat162float(row[i]) * factor * __bfloat162float(weight[i]));
  }
}

// bar.sync and bar.arrive of `threads` threads of the block.
__device__ inline void BarSync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void BarArrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Stands where a barrier belongs: mostly the others are done when it ends, so that outputs are
// right without it.
__device__ inline void Linger(int microseconds) {
  for (int i = 0; i < microseconds; ++i) __nanosleep(1000);
}

using RowKernel = void (*)(const Bf16* x, const Bf16* weight, int rows, Bf16* y);

inline int LaunchBlocks(RowKernel kernel, const KsearchArgs* args, cudaStream_t stream,
                        int rows_a_block, int threads) {
  if (args->batch_size == 0) return 0;
  const int rows = static_cast<int>(args->batch_size);
  kernel<<<static_cast<unsigned>((rows + rows_a_block - 1) / rows_a_block), threads, 0, stream>>>(
      Input(args), Weight(args), rows, Output(args));
  return cudaGetLastError();
}

}  // namespace corpus

#define CORPUS_RUN(kernel, rows_a_block, threads)                             \
  extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {  \
    return corpus::LaunchBlocks(kernel, args, stream, rows_a_block, threads); \
  }
