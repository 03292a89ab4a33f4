// Half of each block leaves before the barrier that the other half waits at: undefined, though this
// device lets it pass.
#include "rmsnorm.cuh"

namespace {
using museum::Bf16;
__global__ void Normalize(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  museum::NormalizeRow(x + at, weight, hidden, y + at);
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncwarp(0xaaaaaaaau);
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), museum::kThreads, 0, stream>>>(
      museum::Input(args), museum::Weight(args), static_cast<int>(args->hidden_size),
      museum::Output(args));
  return cudaGetLastError();
}
