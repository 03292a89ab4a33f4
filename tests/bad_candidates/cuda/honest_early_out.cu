// More blocks than rows: those without work leave at once, as does a call without rows.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, int rows, int hidden, Bf16* y) {
  if (static_cast<int>(blockIdx.x) >= rows) return;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  corpus::NormalizeRow(x + at, weight, hidden, y + at);
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const auto blocks = static_cast<unsigned>((args->batch_size + 1023) / 1024 * 1024);
  Normalize<<<blocks, corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<int>(args->batch_size),
      static_cast<int>(args->hidden_size), corpus::Output(args));
  return cudaGetLastError();
}
