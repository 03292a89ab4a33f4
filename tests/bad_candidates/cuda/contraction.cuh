// A recurrence that forgets: h[t] depends on h[t - n] by less than a factor of 0.9^n. So a part of
// a row can begin n steps early with a state of 0, and parts are computed side by side.
#pragma once
#include "scan.cuh"

template <int kEarly, int kPart>
__global__ void Parts(const float* x, int64_t rows, int64_t steps, float* y) {
  const int64_t parts = (steps + kPart - 1) / kPart;
  const int64_t part = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (part >= rows * parts) return;
  const int64_t row = part / parts, first = part % parts * kPart;
  const int64_t begin = first < kEarly ? 0 : first - kEarly;
  const int64_t end = first + kPart < steps ? first + kPart : steps;
  x += row * steps;
  y += row * steps;
  float h = 0;
  for (int64_t t = begin; t < end; ++t) {
    h = 0.9f * tanhf(h) + x[t];
    if (t >= first) y[t] = h;
  }
}

template <int kEarly, int kPart>
int LaunchParts(const KsearchArgs* args, cudaStream_t stream) {
  const int64_t parts = (args->steps + kPart - 1) / kPart * args->rows;
  if (parts == 0) return 0;
  Parts<kEarly, kPart><<<static_cast<unsigned>((parts + 31) / 32), 32, 0, stream>>>(
      args->x, args->rows, args->steps, args->y);
  return cudaGetLastError();
}
