// Copies that go on by themselves.
#ifndef KSEARCH_TESTS_GPU_CUDA_HEADER_COPIES_CUH_
#define KSEARCH_TESTS_GPU_CUDA_HEADER_COPIES_CUH_

#include "ksearch_cuda.h"
#include "matrices.cuh"

namespace {

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

}  // namespace

#endif  // KSEARCH_TESTS_GPU_CUDA_HEADER_COPIES_CUH_
