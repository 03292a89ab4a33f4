// Rows come and go by bulk copies (TMA), a barrier in shared memory counts the bytes.
#include "ksearch_cuda.h"
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
constexpr int kHidden = 4096;
constexpr uint32_t kBytes = kHidden * sizeof(Bf16);

__global__ void Normalize(const Bf16* x, const Bf16* weight, Bf16* y) {
  __shared__ __align__(128) Bf16 row[kHidden];
  __shared__ __align__(128) Bf16 result[kHidden];
  __shared__ uint64_t barrier;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  if (threadIdx.x == 0) {
    ks::mbarrier_init(&barrier, 1);
    ks::mbarrier_fence_init();
    ks::mbarrier_arrive_expect(&barrier, kBytes);
    ks::bulk_load(row, x + at, kBytes, &barrier);
  }
  __syncthreads();
  ks::mbarrier_wait(&barrier, 0);
  corpus::NormalizeRow(row, weight, kHidden, result);
  ks::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ks::bulk_store(y + at, result, kBytes);
    ks::bulk_commit();
    ks::bulk_wait<0>();
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), corpus::Output(args));
  return cudaGetLastError();
}
