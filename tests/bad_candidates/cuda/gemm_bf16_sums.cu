// Keeps its sums in bfloat16.
#include "gemm.cuh"

namespace {
struct Bf16Sums {
  static __device__ corpus::Bf16 Load(corpus::Bf16 value) { return value; }
  static __device__ float Accumulate(float sum) { return __bfloat162float(__float2bfloat16(sum)); }
  static constexpr bool kRounds = true;
};
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::LaunchGemm<Bf16Sums>(args, stream, args->K);
}
