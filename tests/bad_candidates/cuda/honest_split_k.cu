// Split-K: four blocks a tile add to float sums in the workspace, which are rounded at the end. The
// order of the additions differs from call to call.
#include "gemm.cuh"

namespace {

using corpus::Bf16;
constexpr int kParts = 4;

__global__ void MultiplyPart(const Bf16* a, const Bf16* b, int64_t m, int64_t n, int64_t k,
                             float* sums) {
  const int64_t part = k / kParts, first = part * blockIdx.z;
  corpus::MultiplyTile<corpus::Exact>(
      a, b, m, n, k, first, first + part, 0,
      [sums](int64_t at, float value) { atomicAdd(&sums[at], value); });
}

__global__ void Round(const float* sums, int64_t elements, Bf16* c) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (at < elements) c[at] = __float2bfloat16(sums[at]);
}

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->M * args->N * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->M == 0) return 0;
  auto* sums = static_cast<float*>(args->workspace);
  const int64_t elements = args->M * args->N;
  const cudaError_t error =
      cudaMemsetAsync(sums, 0, static_cast<size_t>(elements) * sizeof(float), stream);
  if (error != cudaSuccess) return error;
  dim3 grid = corpus::Grid(args);
  grid.z = kParts;
  MultiplyPart<<<grid, corpus::kThreads, 0, stream>>>(reinterpret_cast<const Bf16*>(args->A),
                                                      reinterpret_cast<const Bf16*>(args->B),
                                                      args->M, args->N, args->K, sums);
  Round<<<static_cast<unsigned>((elements + 255) / 256), 256, 0, stream>>>(
      sums, elements, reinterpret_cast<Bf16*>(args->C));
  return cudaGetLastError();
}
