// One block a row; the row stays in registers between the sum and the scaling.
#include "rows.cuh"
#include "variant.h"

namespace {

constexpr int kVectors = kRowVectors / kThreads;

__global__ void __launch_bounds__(kThreads)
    Normalize(const Vector* x, const Vector* weight, float reciprocal_hidden, Vector* y) {
  __shared__ float warp_sums[kThreads / 32];
  x += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  y += static_cast<int64_t>(blockIdx.x) * kRowVectors;
  Vector row[kVectors];
  for (int i = 0; i < kVectors; ++i) {
    const Vector* from = x + i * kThreads + threadIdx.x;
    row[i] = kStreaming ? LoadOnce(from) : *from;
  }
  float sum = 0;
  for (const Vector& vector : row) sum += SumOfSquares(vector);
  const float factor = RowFactor<kThreads>(sum, reciprocal_hidden, warp_sums);
  for (int i = 0; i < kVectors; ++i) {
    const int at = i * kThreads + static_cast<int>(threadIdx.x);
    const Vector scaled = Scaled(row[i], factor, weight[at]);
    if (kStreaming) {
      StoreOnce(y + at, scaled);
    } else {
      y[at] = scaled;
    }
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), kThreads, 0, stream>>>(
      AsVectors(args->hidden_states), AsVectors(args->weight), 1.0f / kHidden,
      AsVectors(args->output));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
