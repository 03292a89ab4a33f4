// Products of warpgroups.
#ifndef KSEARCH_TESTS_GPU_CUDA_HEADER_WARPGROUP_MATRICES_CUH_
#define KSEARCH_TESTS_GPU_CUDA_HEADER_WARPGROUP_MATRICES_CUH_

#include "ksearch_cuda.h"
#include "matrices.cuh"

namespace {

#define FOR_N(call)                      \
  if constexpr (N == 16) ks::call(16);   \
  if constexpr (N == 32) ks::call(32);   \
  if constexpr (N == 64) ks::call(64);   \
  if constexpr (N == 128) ks::call(128); \
  if constexpr (N == 256) ks::call(256)

enum class From { kShared, kSharedMn, kRegisters, kTma };

template <int N>
__device__ void StoreTile(const float (&acc)[N / 2], float* d) {
  const int w = int(threadIdx.x) / 32, g = int(threadIdx.x) % 32 / 4, t = int(threadIdx.x) % 4;
  for (int j = 0; j < N / 8; ++j) {
    for (int i = 0; i < 4; ++i) {
      d[(16 * w + g + 8 * (i / 2)) * N + 8 * j + 2 * t + i % 2] = acc[4 * j + i];
    }
  }
}

// One warpgroup: D[64][N] = A[64][64] * B[N][64]. MN-major: a is [64 k][64 m], b is [64 k][N].
template <int N, From from>
__global__ void __launch_bounds__(128)
    WgmmaBf16(const __nv_bfloat16* a, const __nv_bfloat16* b,
              const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
              float* d) {
  extern __shared__ __align__(1024) char tiles[];
  __shared__ uint64_t full;
  char* const as = tiles;         // 64 rows of 128 bytes
  char* const bs = tiles + 8192;  // N rows of 128 bytes, or N / 64 tiles of 64 rows
  const auto put = [](char* tile, int row, int column, __nv_bfloat16 v) {
    *reinterpret_cast<__nv_bfloat16*>(tile + ks::swizzle128(uint32_t(row * 128 + column * 2))) = v;
  };
  if constexpr (from == From::kTma) {
    if (threadIdx.x == 0) {
      ks::mbarrier_init(&full, 1);
      ks::mbarrier_fence_init();
      ks::mbarrier_arrive_expect(&full, 8192 + N * 128);
      ks::tma_load_2d(as, &map_a, 0, 0, &full);
      ks::tma_load_2d(bs, &map_b, 0, 0, &full);
    }
    __syncthreads();
    ks::mbarrier_wait(&full, 0);
  } else {
    for (int i = int(threadIdx.x); i < 64 * 64; i += 128) put(as, i / 64, i % 64, a[i]);
    for (int i = int(threadIdx.x); i < N * 64; i += 128) {
      if constexpr (from == From::kSharedMn) {
        put(bs + i % N / 64 * 8192, i / N, i % 64, b[i]);
      } else {
        put(bs, i / 64, i % 64, b[i]);
      }
    }
    ks::fence_async_shared();
    __syncthreads();
  }
  float acc[N / 2];
  for (int i = 0; i < N / 2; ++i) acc[i] = 0;
  if constexpr (from == From::kRegisters) {
    uint32_t fa[4][4];
    const int w = int(threadIdx.x) / 32, g = int(threadIdx.x) % 32 / 4, t = int(threadIdx.x) % 4;
    for (int step = 0; step < 4; ++step) {
      for (int i = 0; i < 4; ++i) {
        fa[step][i] = *reinterpret_cast<const uint32_t*>(a + (16 * w + g + 8 * (i % 2)) * 64 +
                                                         16 * step + 2 * t + 8 * (i / 2));
      }
    }
    ks::wgmma_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const uint64_t db = ks::wgmma_descriptor(bs, uint32_t(32 * step));
#define RS(n) wgmma_m64n##n##k16_bf16_rs(acc, fa[step], db, step > 0)
      FOR_N(RS);
    }
    ks::wgmma_commit();
    ks::wgmma_wait<0>();
  } else {
    ks::wgmma_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      if constexpr (from == From::kSharedMn) {
        const uint64_t da = ks::wgmma_descriptor_mn(as, 8192, uint32_t(2048 * step));
        const uint64_t db = ks::wgmma_descriptor_mn(bs, 8192, uint32_t(2048 * step));
#define SS_MN(n) wgmma_m64n##n##k16_bf16<1, 1>(acc, da, db, 1)
        FOR_N(SS_MN);
      } else {
        const uint64_t da = ks::wgmma_descriptor(as, uint32_t(32 * step));
        const uint64_t db = ks::wgmma_descriptor(bs, uint32_t(32 * step));
#define SS(n) wgmma_m64n##n##k16_bf16(acc, da, db, step > 0)
        FOR_N(SS);
      }
    }
    ks::wgmma_commit();
    ks::wgmma_wait<0>();
  }
  StoreTile<N>(acc, d);
}

// D[64][N] = A[64][128] * B[N][128], e4m3.
template <int N>
__global__ void __launch_bounds__(128)
    WgmmaFp8(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, float* d) {
  extern __shared__ __align__(1024) char tiles[];
  char* const bs = tiles + 8192;
  for (int i = int(threadIdx.x); i < 64 * 128; i += 128) {
    reinterpret_cast<__nv_fp8_e4m3*>(tiles)[ks::swizzle128(uint32_t(i))] = a[i];
  }
  for (int i = int(threadIdx.x); i < N * 128; i += 128) {
    reinterpret_cast<__nv_fp8_e4m3*>(bs)[ks::swizzle128(uint32_t(i))] = b[i];
  }
  ks::fence_async_shared();
  __syncthreads();
  float acc[N / 2];
  for (int i = 0; i < N / 2; ++i) acc[i] = 0;
  ks::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const uint64_t da = ks::wgmma_descriptor(tiles, uint32_t(32 * step));
    const uint64_t db = ks::wgmma_descriptor(bs, uint32_t(32 * step));
#define FP8(n) wgmma_m64n##n##k32_e4m3(acc, da, db, step > 0)
    FOR_N(FP8);
  }
  ks::wgmma_commit();
  ks::wgmma_wait<0>();
  StoreTile<N>(acc, d);
}

template <int N, From from>
void CheckBf16(const char* operands) {
  const std::string what = "wgmma m64n" + std::to_string(N) + "k16 bf16, " + operands;
  constexpr bool kMn = from == From::kSharedMn;
  Array<__nv_bfloat16> a(64 * 64), b(N * 64);
  Array<float> d(64 * N);
  Fill(a, 64, 64, 0, kMn);
  Fill(b, N, 64, 100, kMn);
  CUtensorMap map_a, map_b;
  const auto type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (ks::make_tensor_map_2d(&map_a, type, a.data, 64, 64, 128, 64, 64) != cudaSuccess ||
      ks::make_tensor_map_2d(&map_b, type, b.data, N, 64, 128, N, 64) != cudaSuccess) {
    return Report(what, false, "make_tensor_map_2d");
  }
  const int bytes = 8192 + N * 128;
  cudaFuncSetAttribute(WgmmaBf16<N, from>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  WgmmaBf16<N, from><<<1, 128, bytes>>>(a.data, b.data, map_a, map_b, d.data);
  std::string why;
  if (Sync(what)) Report(what, IsProduct(d, 64, N, 64, &why), why);
}

template <int N>
void CheckN() {
  CheckBf16<N, From::kShared>("K-major");
  CheckBf16<N, From::kRegisters>("A from registers");
  CheckBf16<N, From::kTma>("operands by TMA");
  if constexpr (N >= 64) CheckBf16<N, From::kSharedMn>("MN-major");
  const std::string what = "wgmma m64n" + std::to_string(N) + "k32 e4m3";
  Array<__nv_fp8_e4m3> a(64 * 128), b(N * 128);
  Array<float> d(64 * N);
  Fill(a, 64, 128, 0, false);
  Fill(b, N, 128, 100, false);
  const int bytes = 8192 + N * 128;
  cudaFuncSetAttribute(WgmmaFp8<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  WgmmaFp8<N><<<1, 128, bytes>>>(a.data, b.data, d.data);
  std::string why;
  if (Sync(what)) Report(what, IsProduct(d, 64, N, 128, &why), why);
}

}  // namespace

#endif  // KSEARCH_TESTS_GPU_CUDA_HEADER_WARPGROUP_MATRICES_CUH_
