// Honest, and about 2 % slower than the baseline: 131 steps along K instead of 128.
#include "gemm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::LaunchGemm<corpus::Exact>(args, stream, args->K, 3);
}
