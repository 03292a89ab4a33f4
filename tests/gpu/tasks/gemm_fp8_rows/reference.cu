// C = A B^T with a factor for each row of A and of B, summed in double, one thread an element.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "ksearch_task.h"

namespace {

constexpr int kSide = 16;

__global__ void Multiply(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_scale,
                         const float* b_scale, int64_t m, int64_t n, int64_t k, __nv_bfloat16* c) {
  const int64_t row = static_cast<int64_t>(blockIdx.y) * kSide + threadIdx.y;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kSide + threadIdx.x;
  if (row >= m || column >= n) return;
  double sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    sum += static_cast<double>(static_cast<float>(a[row * k + i]) *
                               static_cast<float>(b[column * k + i]));
  }
  sum *= static_cast<double>(a_scale[row]) * static_cast<double>(b_scale[column]);
  c[row * n + column] = __float2bfloat16(static_cast<float>(sum));
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->M == 0) return 0;
  const dim3 grid(static_cast<unsigned>((args->N + kSide - 1) / kSide),
                  static_cast<unsigned>((args->M + kSide - 1) / kSide));
  Multiply<<<grid, dim3(kSide, kSide), 0, stream>>>(
      reinterpret_cast<const __nv_fp8_e4m3*>(args->A),
      reinterpret_cast<const __nv_fp8_e4m3*>(args->B), args->A_scale, args->B_scale, args->M,
      args->N, args->K, reinterpret_cast<__nv_bfloat16*>(args->C));
  return cudaGetLastError();
}
