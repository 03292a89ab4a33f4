// Leaves a kernel behind that runs on after the call.
#include "rmsnorm.cuh"

namespace {
__device__ unsigned int turns;
__global__ void RunFor(long long nanos) {
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    ++turns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanos);
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  const int error = corpus::Launch(args, stream);
  RunFor<<<1, 1, 0, own>>>(300'000);
  return error;
}
