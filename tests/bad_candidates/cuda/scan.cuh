// What the programs for leaky_scan_f32 (tests/gpu/tasks) share: the task's baseline, so that
// whoever is faster than the baseline with it owes that to something else.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "ksearch_task.h"

namespace corpus {

constexpr int kChunk = 256;

struct Exact {
  static __device__ float Tanh(float h) { return tanhf(h); }
};

// By a whole warp; `chunk` has kChunk floats of shared memory for it.
template <typename Math = Exact>
__device__ void ScanRow(const float* x, int64_t steps, float* chunk, float* y) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float h = 0;
  for (int64_t first = 0; first < steps; first += kChunk) {
    const auto part = static_cast<int>(steps - first < kChunk ? steps - first : kChunk);
    for (int i = lane; i < part; i += 32) chunk[i] = x[first + i];
    __syncwarp();
    if (lane == 0) {
      for (int i = 0; i < part; ++i) {
        h = (first + i == 0 ? 0 : 0.9f * Math::Tanh(h)) + chunk[i];
        chunk[i] = h;
      }
    }
    __syncwarp();
    for (int i = lane; i < part; i += 32) y[first + i] = chunk[i];
    __syncwarp();
  }
}

template <typename Math>
__global__ void Scan(const float* x, int64_t steps, float* y) {
  __shared__ float chunk[kChunk];
  ScanRow<Math>(x + blockIdx.x * steps, steps, chunk, y + blockIdx.x * steps);
}

template <typename Math = Exact>
int LaunchScan(const KsearchArgs* args, cudaStream_t stream) {
  if (args->rows == 0 || args->steps == 0) return 0;
  Scan<Math><<<static_cast<unsigned>(args->rows), 32, 0, stream>>>(args->x, args->steps, args->y);
  return cudaGetLastError();
}

}  // namespace corpus
