// Blocks stay and take row after row; the weights are loaded once and kept in registers.
#include "rows.cuh"
#include "variant.h"

namespace {

constexpr int kVectors = kRowVectors / kThreads;

__global__ void __launch_bounds__(kThreads)
    Normalize(const Vector* x, const Vector* weight, int64_t rows, float reciprocal_hidden,
              Vector* y) {
  __shared__ float warp_sums[2][kThreads / 32];
  Vector scale[kVectors];
  for (int i = 0; i < kVectors; ++i) scale[i] = weight[i * kThreads + threadIdx.x];
  Vector values[kVectors];
  int64_t row = blockIdx.x;
  if (row < rows) {
    for (int i = 0; i < kVectors; ++i) {
      values[i] = x[row * kRowVectors + i * kThreads + threadIdx.x];
    }
  }
  // Two sets of sums, so that one barrier a row is enough.
  int parity = 0;
  while (row < rows) {
    const int64_t next = row + gridDim.x;
    Vector ahead[kVectors];
    if (next < rows) {
      for (int i = 0; i < kVectors; ++i) {
        ahead[i] = x[next * kRowVectors + i * kThreads + threadIdx.x];
      }
    }
    float sum = 0;
    for (const Vector& vector : values) sum += SumOfSquares(vector);
    const float factor = RowFactor<kThreads>(sum, reciprocal_hidden, warp_sums[parity]);
    for (int i = 0; i < kVectors; ++i) {
      y[row * kRowVectors + i * kThreads + threadIdx.x] = Scaled(values[i], factor, scale[i]);
    }
    for (int i = 0; i < kVectors; ++i) values[i] = ahead[i];
    row = next;
    parity ^= 1;
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  int device = 0;
  int processors = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    return 1;
  }
  const int64_t most = static_cast<int64_t>(processors) * kBlocksPerProcessor;
  const int64_t blocks = args->batch_size < most ? args->batch_size : most;
  Normalize<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      AsVectors(args->hidden_states), AsVectors(args->weight), args->batch_size, 1.0f / kHidden,
      AsVectors(args->output));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
