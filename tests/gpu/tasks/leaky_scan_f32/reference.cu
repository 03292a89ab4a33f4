// One thread a row, in double.
#include "ksearch_task.h"

namespace {

__global__ void Scan(const float* x, int64_t rows, int64_t steps, float* y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double h = 0;
  for (int64_t t = row * steps; t < (row + 1) * steps; ++t) {
    h = 0.9 * tanh(h) + static_cast<double>(x[t]);
    y[t] = static_cast<float>(h);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->rows == 0 || args->steps == 0) return 0;
  Scan<<<static_cast<unsigned>((args->rows + 31) / 32), 32, 0, stream>>>(args->x, args->rows,
                                                                         args->steps, args->y);
  return cudaGetLastError();
}
