/* Numbers: packed elements to float and back. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_CONVERSIONS_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_CONVERSIONS_H_

namespace ks {

/* ---------------------------------------------------------------- conversions
   Element 0 of a packed word is its lowest bits, as in memory. */

KS_DEVICE float2 bf16x2_to_float2(uint32_t w) {
  return make_float2(__uint_as_float(w << 16), __uint_as_float(w & 0xffff0000u));
}
KS_DEVICE uint32_t float2_to_bf16x2(float lo, float hi) { /* round to nearest even */
  const __nv_bfloat162 v = __floats2bfloat162_rn(lo, hi);
  return *reinterpret_cast<const uint32_t*>(&v);
}
KS_DEVICE float2 half2_to_float2(uint32_t w) {
  return __half22float2(*reinterpret_cast<const __half2*>(&w));
}
KS_DEVICE uint32_t float2_to_half2(float lo, float hi) {
  const __half2 v = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<const uint32_t*>(&v);
}
KS_DEVICE float2 e4m3x2_to_float2(uint16_t w) {
  const __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(w, __NV_E4M3);
  return __half22float2(__half2(h));
}
KS_DEVICE float2 e5m2x2_to_float2(uint16_t w) {
  const __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(w, __NV_E5M2);
  return __half22float2(__half2(h));
}
KS_DEVICE uint16_t float2_to_e4m3x2(float lo, float hi) { /* saturates to +-448 */
  return __nv_cvt_float2_to_fp8x2(make_float2(lo, hi), __NV_SATFINITE, __NV_E4M3);
}
KS_DEVICE uint16_t float2_to_e5m2x2(float lo, float hi) { /* saturates to +-57344 */
  return __nv_cvt_float2_to_fp8x2(make_float2(lo, hi), __NV_SATFINITE, __NV_E5M2);
}
/* 16 bytes <-> 8 bf16 or 16 e4m3 values. */
KS_DEVICE void unpack_bf16x8(uint4 v, float (&f)[8]) {
  const uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 p = bf16x2_to_float2(w[i]);
    f[2 * i] = p.x;
    f[2 * i + 1] = p.y;
  }
}
KS_DEVICE uint4 pack_bf16x8(const float (&f)[8]) {
  return make_uint4(float2_to_bf16x2(f[0], f[1]), float2_to_bf16x2(f[2], f[3]),
                    float2_to_bf16x2(f[4], f[5]), float2_to_bf16x2(f[6], f[7]));
}
KS_DEVICE void unpack_e4m3x16(uint4 v, float (&f)[16]) {
  const uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float2 p = e4m3x2_to_float2((uint16_t)(w[i / 2] >> (16 * (i % 2))));
    f[2 * i] = p.x;
    f[2 * i + 1] = p.y;
  }
}
KS_DEVICE uint32_t pack_e4m3x4(float a, float b, float c, float d) {
  return (uint32_t)float2_to_e4m3x2(a, b) | (uint32_t)float2_to_e4m3x2(c, d) << 16;
}
KS_DEVICE float fast_exp2(float x) { /* ex2.approx: 2 ulp, denormals are zero */
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_CONVERSIONS_H_
