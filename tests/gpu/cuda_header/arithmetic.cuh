// Conversions and reductions.
#ifndef KSEARCH_TESTS_GPU_CUDA_HEADER_ARITHMETIC_CUH_
#define KSEARCH_TESTS_GPU_CUDA_HEADER_ARITHMETIC_CUH_

#include "ksearch_cuda.h"
#include "matrices.cuh"

namespace {

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

}  // namespace

#endif  // KSEARCH_TESTS_GPU_CUDA_HEADER_ARITHMETIC_CUH_
