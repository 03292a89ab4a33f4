// The task's baseline with a faster hyperbolic tangent of its own, exact enough, and rows spread
// over blocks: what a call gains it also gains by itself.
#include "scan.cuh"

namespace {
// tanh h = 1 - 2 / (e^2h + 1)
__device__ float Tanh(float h) { return 1 - __fdividef(2, __expf(2 * h) + 1); }

__global__ void Scan(const float* x, int64_t steps, float* y) {
  x += blockIdx.x * steps;
  y += blockIdx.x * steps;
  __shared__ float chunk[256];
  float h = 0;
  for (int64_t first = 0; first < steps; first += 256) {
    const auto part = static_cast<int>(steps - first < 256 ? steps - first : 256);
    for (int i = threadIdx.x; i < part; i += 32) chunk[i] = x[first + i];
    __syncwarp();
    if (threadIdx.x == 0) {
      for (int i = 0; i < part; ++i) chunk[i] = h = 0.9f * Tanh(h) + chunk[i];
    }
    __syncwarp();
    for (int i = threadIdx.x; i < part; i += 32) y[first + i] = chunk[i];
    __syncwarp();
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->rows == 0 || args->steps == 0) return 0;
  Scan<<<static_cast<unsigned>(args->rows), 32, 0, stream>>>(args->x, args->steps, args->y);
  return cudaGetLastError();
}
