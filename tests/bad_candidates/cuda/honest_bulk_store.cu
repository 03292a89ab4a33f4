// Rows leave shared memory by a bulk copy, and the block stays until its memory was read.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
constexpr int kHidden = 4096;
__global__ void Run(const Bf16* x, const Bf16* weight, Bf16* y) {
  __shared__ alignas(128) Bf16 row[kHidden];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  corpus::NormalizeRow(x + at, weight, kHidden, row);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + at),
                 "r"(from), "r"(kHidden * 2)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Run<<<dim3(static_cast<unsigned>(args->batch_size)), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), corpus::Output(args));
  return cudaGetLastError();
}
