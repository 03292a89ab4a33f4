/* Products of warpgroups: bf16. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_BF16_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_BF16_H_

namespace ks {

#ifdef KS_HAS_WGMMA
/* Both operands from shared memory; trans_a, trans_b = 1: MN-major. */
template <int trans_a = 0, int trans_b = 0>
KS_DEVICE void wgmma_m64n16k16_bf16(float (&d)[8], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" KS_R8_0
      "}, %8, %9, p, 1, 1, %11, %12;\n}"
      : KS_D8(0)
      : "l"(a), "l"(b), "r"(accumulate), "n"(trans_a), "n"(trans_b));
}
template <int trans_a = 0, int trans_b = 0>
KS_DEVICE void wgmma_m64n32k16_bf16(float (&d)[16], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" KS_R8_0 ", " KS_R8_1
      "}, %16, %17, p, 1, 1, %19, %20;\n}"
      : KS_D8(0), KS_D8(8)
      : "l"(a), "l"(b), "r"(accumulate), "n"(trans_a), "n"(trans_b));
}
template <int trans_a = 0, int trans_b = 0>
KS_DEVICE void wgmma_m64n64k16_bf16(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" KS_R32_0
      "}, %32, %33, p, 1, 1, %35, %36;\n}"
      : KS_D32(0)
      : "l"(a), "l"(b), "r"(accumulate), "n"(trans_a), "n"(trans_b));
}
template <int trans_a = 0, int trans_b = 0>
KS_DEVICE void wgmma_m64n128k16_bf16(float (&d)[64], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" KS_R32_0 ", " KS_R32_1
      "}, %64, %65, p, 1, 1, %67, %68;\n}"
      : KS_D32(0), KS_D32(32)
      : "l"(a), "l"(b), "r"(accumulate), "n"(trans_a), "n"(trans_b));
}
template <int trans_a = 0, int trans_b = 0>
KS_DEVICE void wgmma_m64n256k16_bf16(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" KS_R32_0 ", " KS_R32_1 ", " KS_R32_2
      ", " KS_R32_3 "}, %128, %129, p, 1, 1, %131, %132;\n}"
      : KS_D32(0), KS_D32(32), KS_D32(64), KS_D32(96)
      : "l"(a), "l"(b), "r"(accumulate), "n"(trans_a), "n"(trans_b));
}
/* A from registers, K-major by nature. */
template <int trans_b = 0>
KS_DEVICE void wgmma_m64n16k16_bf16_rs(float (&d)[8], const uint32_t (&a)[4], uint64_t b,
                                       int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" KS_R8_0
      "}, {%8, %9, %10, %11}, %12, p, 1, 1, %14;\n}"
      : KS_D8(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(trans_b));
}
template <int trans_b = 0>
KS_DEVICE void wgmma_m64n32k16_bf16_rs(float (&d)[16], const uint32_t (&a)[4], uint64_t b,
                                       int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" KS_R8_0 ", " KS_R8_1
      "}, {%16, %17, %18, %19}, %20, p, 1, 1, %22;\n}"
      : KS_D8(0), KS_D8(8)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(trans_b));
}
template <int trans_b = 0>
KS_DEVICE void wgmma_m64n64k16_bf16_rs(float (&d)[32], const uint32_t (&a)[4], uint64_t b,
                                       int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" KS_R32_0
      "}, {%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}"
      : KS_D32(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(trans_b));
}
template <int trans_b = 0>
KS_DEVICE void wgmma_m64n128k16_bf16_rs(float (&d)[64], const uint32_t (&a)[4], uint64_t b,
                                        int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" KS_R32_0 ", " KS_R32_1
      "}, {%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}"
      : KS_D32(0), KS_D32(32)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(trans_b));
}
template <int trans_b = 0>
KS_DEVICE void wgmma_m64n256k16_bf16_rs(float (&d)[128], const uint32_t (&a)[4], uint64_t b,
                                        int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" KS_R32_0 ", " KS_R32_1 ", " KS_R32_2
      ", " KS_R32_3 "}, {%128, %129, %130, %131}, %132, p, 1, 1, %134;\n}"
      : KS_D32(0), KS_D32(32), KS_D32(64), KS_D32(96)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(trans_b));
}
#endif /* KS_HAS_WGMMA */

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_BF16_H_
