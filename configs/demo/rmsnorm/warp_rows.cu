// One warp a row: no shared memory and no barrier.
#include "rows.cuh"
#include "variant.h"

namespace {

constexpr int kVectors = kRowVectors / 32;
constexpr int kRowsPerBlock = kThreads / 32;

__global__ void __launch_bounds__(kThreads)
    Normalize(const Vector* x, const Vector* weight, int64_t rows, float reciprocal_hidden,
              Vector* y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  x += row * kRowVectors;
  y += row * kRowVectors;
  Vector values[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) values[i] = x[i * 32 + lane];
  float sum = 0;
#pragma unroll
  for (const Vector& vector : values) sum += SumOfSquares(vector);
  const float factor = RowFactor<32>(sum, reciprocal_hidden, nullptr);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int at = i * 32 + lane;
    y[at] = Scaled(values[i], factor, weight[at]);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const int64_t blocks = (args->batch_size + kRowsPerBlock - 1) / kRowsPerBlock;
  Normalize<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      AsVectors(args->hidden_states), AsVectors(args->weight), args->batch_size, 1.0f / kHidden,
      AsVectors(args->output));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
