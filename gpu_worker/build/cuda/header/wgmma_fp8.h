/* Products of warpgroups: fp8. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_FP8_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_FP8_H_

namespace ks {

#ifdef KS_HAS_WGMMA
/* fp8, both K-major in shared memory. */
KS_DEVICE void wgmma_m64n16k32_e4m3(float (&d)[8], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {" KS_R8_0 "}, %8, %9, p, 1, 1;\n}"
      : KS_D8(0)
      : "l"(a), "l"(b), "r"(accumulate));
}
KS_DEVICE void wgmma_m64n32k32_e4m3(float (&d)[16], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 {" KS_R8_0 ", " KS_R8_1
      "}, %16, %17, p, 1, 1;\n}"
      : KS_D8(0), KS_D8(8)
      : "l"(a), "l"(b), "r"(accumulate));
}
KS_DEVICE void wgmma_m64n64k32_e4m3(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" KS_R32_0 "}, %32, %33, p, 1, 1;\n}"
      : KS_D32(0)
      : "l"(a), "l"(b), "r"(accumulate));
}
KS_DEVICE void wgmma_m64n128k32_e4m3(float (&d)[64], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" KS_R32_0 ", " KS_R32_1
      "}, %64, %65, p, 1, 1;\n}"
      : KS_D32(0), KS_D32(32)
      : "l"(a), "l"(b), "r"(accumulate));
}
KS_DEVICE void wgmma_m64n256k32_e4m3(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" KS_R32_0 ", " KS_R32_1 ", " KS_R32_2
      ", " KS_R32_3 "}, %128, %129, p, 1, 1;\n}"
      : KS_D32(0), KS_D32(32), KS_D32(64), KS_D32(96)
      : "l"(a), "l"(b), "r"(accumulate));
}
#endif /* KS_HAS_WGMMA */

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_FP8_H_
