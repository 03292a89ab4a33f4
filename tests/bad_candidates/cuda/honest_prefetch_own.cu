// Brings the row that comes next, of the same call, into the L2 cache while it works on one.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Run(const Bf16* x, const Bf16* weight, int rows, int hidden, Bf16* y) {
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    const int next = row + static_cast<int>(gridDim.x);
    if (next < rows && static_cast<int>(threadIdx.x) * 64 < hidden) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(x + static_cast<int64_t>(next) * hidden +
                                                    static_cast<int>(threadIdx.x) * 64));
    }
    const int64_t at = static_cast<int64_t>(row) * hidden;
    corpus::NormalizeRow(x + at, weight, hidden, y + at);
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const int64_t blocks = args->batch_size < 1056 ? args->batch_size : 1056;
  Run<<<dim3(static_cast<unsigned>(blocks)), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<int>(args->batch_size),
      static_cast<int>(args->hidden_size), corpus::Output(args));
  return cudaGetLastError();
}
