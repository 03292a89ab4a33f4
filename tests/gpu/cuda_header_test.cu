// Checks the wrappers of ksearch_cuda.h against plain loops, on an H100 or H200. Values are small
// integers, so that every sum is exact in the types used. Prints a line per check; exit status 1 if
// one fails, 2 without a suitable device.
// Build and run, from the root of the sources:
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -Igpu_worker/build/cuda
//        -o cuda_header_test tests/gpu/cuda_header_test.cu && ./cuda_header_test
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ksearch_cuda.h"

namespace {

int failures = 0;

void Report(const std::string& what, bool good, const std::string& why = "") {
  std::printf("%s %s%s%s\n", good ? "ok    " : "FAILED", what.c_str(), why.empty() ? "" : ": ",
              why.c_str());
  if (!good) ++failures;
}

bool Sync(const std::string& what) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return true;
  Report(what, false, cudaGetErrorString(error));
  if (error != cudaErrorLaunchFailure) cudaGetLastError();
  return false;
}

// Device memory shared with the host: the tests are small.
template <typename T>
struct Array {
  explicit Array(size_t count) : size(count) {
    if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) {
      std::printf("FAILED out of memory\n");
      std::exit(2);
    }
    std::memset(static_cast<void*>(data), 0, count * sizeof(T));
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T& operator[](size_t i) { return data[i]; }
  T* data = nullptr;
  size_t size;
};

int Small(int i, int j) { return (i * 7 + j * 3 + i * j) % 9 - 4; }

float Value(__nv_bfloat16 v) { return __bfloat162float(v); }

// D[i][j] == sum over k of A[i][k] * B[j][k], with A, B as Small gives them.
bool IsProduct(Array<float>& d, int m, int n, int k_size, std::string* why) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float want = 0;
      for (int k = 0; k < k_size; ++k) want += float(Small(i, k)) * float(Small(j + 100, k));
      const float got = d[size_t(i) * n + j];
      if (got != want) {
        *why = "D[" + std::to_string(i) + "][" + std::to_string(j) + "] = " + std::to_string(got) +
               ", expected " + std::to_string(want);
        return false;
      }
    }
  }
  return true;
}

// A is [m][k]; B is [n][k], or [k][n] if `b_rows_of_n`; likewise A.
template <typename T>
void Fill(Array<T>& a, int rows, int k_size, int first, bool transposed) {
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < k_size; ++k) {
      a[transposed ? size_t(k) * rows + i : size_t(i) * k_size + k] = T(float(Small(i + first, k)));
    }
  }
}

// ---------------------------------------------------------------- conversions, reductions

__global__ void Conversions(float* out) {
  float f[8], g[8];
  for (int i = 0; i < 8; ++i) f[i] = float(i) - 3.5f;
  ks::unpack_bf16x8(ks::pack_bf16x8(f), g);
  for (int i = 0; i < 8; ++i) out[i] = g[i] - f[i];
  const float2 h = ks::half2_to_float2(ks::float2_to_half2(1.5f, -2.25f));
  out[8] = h.x - 1.5f;
  out[9] = h.y + 2.25f;
  const float2 e4 = ks::e4m3x2_to_float2(ks::float2_to_e4m3x2(3.5f, 1000.0f));
  out[10] = e4.x - 3.5f;
  out[11] = e4.y - 448.0f;
  const float2 e5 = ks::e5m2x2_to_float2(ks::float2_to_e5m2x2(-1.75f, 1e9f));
  out[12] = e5.x + 1.75f;
  out[13] = e5.y - 57344.0f;
  const uint32_t w = ks::pack_e4m3x4(1.0f, 2.0f, 3.0f, 4.0f);
  float u[16];
  ks::unpack_e4m3x16(make_uint4(w, w, 0u, w), u);
  out[14] = u[0] - 1.0f + (u[1] - 2.0f) + (u[2] - 3.0f) + (u[3] - 4.0f) + u[8] + (u[15] - 4.0f);
  out[15] = ks::fast_exp2(3.0f) - 8.0f;
}

__global__ void Reductions(float* out) {
  __shared__ float scratch[32];
  const float x = float(threadIdx.x);
  const float eight = ks::warp_sum<8>(x);
  const float most = ks::warp_max(x);
  const float all = ks::block_sum<256>(x, scratch);
  const float again = ks::block_sum<256>(1.0f, scratch);
  ks::named_barrier(1, 256);
  if (threadIdx.x == 255) {
    out[0] = eight - (248 + 249 + 250 + 251 + 252 + 253 + 254 + 255);
    out[1] = most - 255.0f;
    out[2] = all - 255.0f * 128.0f;
    out[3] = again - 256.0f;
  }
}

template <typename Kernel>
void Zeros(const std::string& what, Kernel kernel, int threads, int count) {
  Array<float> out(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) out[size_t(i)] = 1.0f;
  kernel<<<1, threads>>>(out.data);
  if (!Sync(what)) return;
  for (int i = 0; i < count; ++i) {
    if (std::fabs(out[size_t(i)]) > 1e-5f) {
      return Report(what, false,
                    "value " + std::to_string(i) + " is off by " + std::to_string(out[size_t(i)]));
    }
  }
  Report(what, true);
}

// ---------------------------------------------------------------- copies

// cp.async, two groups in flight; the last 16 bytes are not valid and must read as zero.
__global__ void CopyAsync(const uint4* in, uint4* out, int count) {
  __shared__ uint4 stage[2][128];
  const int t = int(threadIdx.x);
  ks::cp_async16(&stage[0][t], in + t);
  ks::cp_async_commit();
  ks::cp_async16_or_zero(&stage[1][t], in + 128 + t, 128 + t < count);
  ks::cp_async_commit();
  ks::cp_async_wait<1>();
  __syncthreads();
  ks::store128_stream(out + t, stage[0][127 - t]);
  ks::cp_async_wait<0>();
  __syncthreads();
  ks::store128(out + 128 + t, stage[1][127 - t]);
}

// Bulk copies there and back through two buffers, each used twice (both parities).
__global__ void CopyBulk(const char* in, char* out) {
  constexpr int kBytes = 4096;
  __shared__ alignas(128) char stage[2][kBytes];
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) {
    ks::mbarrier_init(&full[0], 1);
    ks::mbarrier_init(&full[1], 1);
    ks::mbarrier_fence_init();
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    const int s = i % 2;
    if (threadIdx.x == 0) {
      ks::bulk_wait_read<0>();
      ks::mbarrier_arrive_expect(&full[s], kBytes);
      ks::bulk_load(stage[s], in + i * kBytes, kBytes, &full[s]);
    }
    ks::mbarrier_wait(&full[s], uint32_t(i / 2 % 2));
    for (int j = int(threadIdx.x); j < kBytes; j += int(blockDim.x)) stage[s][j] += 1;
    ks::fence_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      ks::bulk_store(out + i * kBytes, stage[s], kBytes);
      ks::bulk_commit();
    }
  }
  if (threadIdx.x == 0) ks::bulk_wait<0>();
}

// A box of 16 rows x 64 bf16 with 128-byte swizzle, partly outside the tensor; read back by the
// formula of swizzle128, and stored as it is to another tensor.
__global__ void CopyTensor(const __grid_constant__ CUtensorMap in,
                           const __grid_constant__ CUtensorMap out, int x, int y,
                           __nv_bfloat16* seen) {
  __shared__ alignas(1024) char box[16 * 128];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    ks::tma_prefetch(&in);
    ks::mbarrier_init(&full, 1);
    ks::mbarrier_fence_init();
    ks::mbarrier_arrive_expect(&full, sizeof box);
    ks::tma_load_2d(box, &in, x, y, &full);
  }
  __syncthreads();
  ks::mbarrier_wait(&full, 0);
  for (int i = int(threadIdx.x); i < 16 * 64; i += int(blockDim.x)) {
    seen[i] = *reinterpret_cast<__nv_bfloat16*>(box + ks::swizzle128(uint32_t(i * 2)));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ks::tma_store_2d(&out, x, y, box);
    ks::bulk_commit();
    ks::bulk_wait<0>();
  }
}

void Copies() {
  {
    Array<uint4> in(256), out(256);
    for (unsigned i = 0; i < 256; ++i) in[i] = make_uint4(i, 2 * i, 3 * i, 4 * i + 1);
    CopyAsync<<<1, 128>>>(in.data, out.data, 255);
    if (Sync("cp.async")) {
      bool good = out[128].w == 0;
      for (unsigned i = 0; i < 128; ++i) good = good && out[i].w == in[127 - i].w;
      for (unsigned i = 1; i < 128; ++i) good = good && out[128 + i].x == in[255 - i].x;
      Report("cp.async", good);
    }
  }
  {
    Array<char> in(4 * 4096), out(4 * 4096);
    for (size_t i = 0; i < in.size; ++i) in[i] = char(i % 100);
    CopyBulk<<<1, 128>>>(in.data, out.data);
    if (Sync("bulk copies, mbarrier")) {
      bool good = true;
      for (size_t i = 0; i < in.size; ++i) good = good && out[i] == char(i % 100 + 1);
      Report("bulk copies, mbarrier", good);
    }
  }
  const int rows = 40, columns = 200, x = 160, y = 32;
  Array<__nv_bfloat16> in(rows * columns), out(rows * columns), seen(16 * 64);
  for (int i = 0; i < rows * columns; ++i) in[size_t(i)] = float(i % 251 + 1);
  CUtensorMap from, to;
  cudaError_t error = ks::make_tensor_map_2d(&from, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, in.data, rows,
                                             columns, columns * 2, 16, 64);
  if (error == cudaSuccess) {
    error = ks::make_tensor_map_2d(&to, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, out.data, rows, columns,
                                   columns * 2, 16, 64);
  }
  if (error != cudaSuccess) return Report("make_tensor_map_2d", false, cudaGetErrorString(error));
  CopyTensor<<<1, 128>>>(from, to, x, y, seen.data);
  if (!Sync("tensor copies")) return;
  bool loaded = true, stored = true;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 64; ++j) {
      const bool inside = y + i < rows && x + j < columns;
      const float want = inside ? Value(in[size_t((y + i) * columns + x + j)]) : 0.0f;
      loaded = loaded && Value(seen[size_t(i * 64 + j)]) == want;
      if (inside) stored = stored && Value(out[size_t((y + i) * columns + x + j)]) == want;
    }
  }
  stored = stored && Value(out[0]) == 0.0f;
  Report("tensor load, swizzle, outside is zero", loaded);
  Report("tensor store", stored);
}

// ---------------------------------------------------------------- mma.sync

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

// ---------------------------------------------------------------- wgmma

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

int main() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::printf("skipped: no device of compute capability 9.0\n");
    return 2;
  }
  std::printf("on %s\n", device.name);
  Zeros("conversions", Conversions, 1, 16);
  Zeros("reductions, named barrier", Reductions, 256, 4);
  Copies();
  WarpMatrices();
  CheckN<16>();
  CheckN<32>();
  CheckN<64>();
  CheckN<128>();
  CheckN<256>();
  std::printf("%s\n", failures == 0 ? "all good" : "there are failures");
  return failures == 0 ? 0 : 1;
}
