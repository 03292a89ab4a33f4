// Products of whole warps.
#ifndef KSEARCH_TESTS_GPU_CUDA_HEADER_WARP_MATRICES_CUH_
#define KSEARCH_TESTS_GPU_CUDA_HEADER_WARP_MATRICES_CUH_

#include "ksearch_cuda.h"
#include "matrices.cuh"

namespace {

// One warp: D[16][8] = A[16][16] * B, B as [8][16] or, transposed, as [16][8].
__global__ void MmaBf16(const __nv_bfloat16* a, const __nv_bfloat16* b, bool transposed, float* d) {
  __shared__ alignas(128) __nv_bfloat16 as[16][16];
  __shared__ alignas(128) __nv_bfloat16 bs[16 * 16];
  const int l = int(threadIdx.x);
  for (int i = l; i < 256; i += 32) as[i / 16][i % 16] = a[i];
  for (int i = l; i < 256; i += 32) bs[i] = b[i];
  __syncwarp();
  uint32_t fa[4], fb[4];
  ks::ldmatrix_x4(fa, &as[l % 16][8 * (l / 16)]);
  if (transposed) {  // [k][n]: 16 rows of 16 columns
    ks::ldmatrix_x4_trans(fb, &bs[(l % 16) * 16 + 8 * (l / 16)]);
  } else {  // [n][k]
    ks::ldmatrix_x4(fb, &bs[(8 * (l / 16) + l % 8) * 16 + 8 * (l / 8 % 2)]);
  }
  for (int tile = 0; tile < 2; ++tile) {
    float acc[4] = {0, 0, 0, 0};
    ks::mma_m16n8k16_bf16(acc, fa, fb[2 * tile], fb[2 * tile + 1]);
    const int g = l / 4, t = l % 4;
    for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 16 + 8 * tile + 2 * t + i % 2] = acc[i];
  }
}

__global__ void MmaFp8(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, float* d) {
  const int g = int(threadIdx.x) / 4, t = int(threadIdx.x) % 4;
  const auto word = [](const __nv_fp8_e4m3* p) { return *reinterpret_cast<const uint32_t*>(p); };
  const uint32_t fa[4] = {word(a + g * 32 + 4 * t), word(a + (g + 8) * 32 + 4 * t),
                          word(a + g * 32 + 4 * t + 16), word(a + (g + 8) * 32 + 4 * t + 16)};
  float acc[4] = {0, 0, 0, 0};
  ks::mma_m16n8k32_e4m3(acc, fa, word(b + g * 32 + 4 * t), word(b + g * 32 + 4 * t + 16));
  for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = acc[i];
}

void WarpMatrices() {
  std::string why;
  for (const bool transposed : {false, true}) {
    Array<__nv_bfloat16> a(256), b(256);
    Array<float> d(256);
    Fill(a, 16, 16, 0, false);
    Fill(b, 16, 16, 100, transposed);
    MmaBf16<<<1, 32>>>(a.data, b.data, transposed, d.data);
    const std::string what =
        transposed ? "mma.sync bf16, ldmatrix.trans" : "mma.sync bf16, ldmatrix";
    if (Sync(what)) Report(what, IsProduct(d, 16, 16, 16, &why), why);
  }
  Array<__nv_fp8_e4m3> a(16 * 32), b(8 * 32);
  Array<float> d(16 * 8);
  Fill(a, 16, 32, 0, false);
  Fill(b, 8, 32, 100, false);
  MmaFp8<<<1, 32>>>(a.data, b.data, d.data);
  if (Sync("mma.sync e4m3")) Report("mma.sync e4m3", IsProduct(d, 16, 8, 32, &why), why);
}

}  // namespace

#endif  // KSEARCH_TESTS_GPU_CUDA_HEADER_WARP_MATRICES_CUH_
