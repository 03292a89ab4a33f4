// What the programs for leaky_scan_f32 (tests/gpu/tasks) share: the step of the task's baseline.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "ksearch_task.h"

namespace corpus {

__device__ inline void ScanRow(const float* x, int64_t steps, float* y) {
  float h = 0;
  for (int64_t t = 0; t < steps; ++t) {
    h = 0.9f * tanhf(h) + x[t];
    y[t] = h;
  }
}

static __global__ void Scan(const float* x, int64_t rows, int64_t steps, float* y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) ScanRow(x + row * steps, steps, y + row * steps);
}

inline int LaunchScan(const KsearchArgs* args, cudaStream_t stream) {
  if (args->rows == 0 || args->steps == 0) return 0;
  Scan<<<static_cast<unsigned>((args->rows + 31) / 32), 32, 0, stream>>>(args->x, args->rows,
                                                                         args->steps, args->y);
  return cudaGetLastError();
}

}  // namespace corpus
