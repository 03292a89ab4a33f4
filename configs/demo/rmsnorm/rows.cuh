// Rows of 4096 bfloat16 as vectors of eight, and what is done to one vector.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "ksearch_task.h"

constexpr int kHidden = 4096;
constexpr int kRowVectors = kHidden / 8;
constexpr float kEpsilon = 1e-5f;

struct alignas(16) Vector {
  __nv_bfloat162 pair[4];
};

template <typename T>
const Vector* AsVectors(const T* tensor) {
  return reinterpret_cast<const Vector*>(tensor);
}
template <typename T>
Vector* AsVectors(T* tensor) {
  return reinterpret_cast<Vector*>(tensor);
}

__device__ inline float SumOfSquares(const Vector& x) {
  float sum = 0;
  for (const __nv_bfloat162& pair : x.pair) {
    const float2 value = __bfloat1622float2(pair);
    sum += value.x * value.x + value.y * value.y;
  }
  return sum;
}

__device__ inline Vector Scaled(const Vector& x, float factor, const Vector& weight) {
  Vector y;
  for (int i = 0; i < 4; ++i) {
    const float2 value = __bfloat1622float2(x.pair[i]);
    const float2 scale = __bfloat1622float2(weight.pair[i]);
    y.pair[i] = __floats2bfloat162_rn(value.x * factor * scale.x, value.y * factor * scale.y);
  }
  return y;
}

__device__ inline float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// 1 / sqrt(mean square) of the row that the block's threads have summed parts of.
template <int kBlock>
__device__ inline float RowFactor(float sum, float reciprocal_hidden, float* warp_sums) {
  sum = WarpSum(sum);
  if (kBlock > 32) {
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int warp = 0; warp < kBlock / 32; ++warp) sum += warp_sums[warp];
  }
  return rsqrtf(sum * reciprocal_hidden + kEpsilon);
}

// Loads and stores that do not stay in the caches.
__device__ inline Vector LoadOnce(const Vector* from) {
  const int4 bits = __ldcs(reinterpret_cast<const int4*>(from));
  Vector vector;
  memcpy(&vector, &bits, sizeof(vector));
  return vector;
}
__device__ inline void StoreOnce(Vector* to, const Vector& vector) {
  int4 bits;
  memcpy(&bits, &vector, sizeof(bits));
  __stcs(reinterpret_cast<int4*>(to), bits);
}
