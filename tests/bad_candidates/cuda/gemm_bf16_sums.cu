// Keeps its sums in bfloat16.
#include "gemm.cuh"

namespace {
struct Bf16Sums {
  static __device__ museum::Bf16 Load(museum::Bf16 value) { return value; }
  static __device__ float Accumulate(float sum) { return __bfloat162float(__float2bfloat16(sum)); }
  static constexpr bool kRounds = true;
};
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return museum::LaunchGemm<Bf16Sums>(args, stream, args->K);
}
