/* Products of whole warps: ldmatrix, mma.sync. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WARP_MATRIX_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WARP_MATRIX_H_

namespace ks {

#ifdef KS_HAS_SM80
/* ---------------------------------------------------------------- ldmatrix, mma.sync
   PTX: ldmatrix, mma.m16n8k16. Whole warps. With lane = 4 * g + t, g in 0..7, t in 0..3:
     A (16 x 16, row major): a[0] = A[g][2t..], a[1] = A[g+8][2t..], a[2] = A[g][2t+8..],
                             a[3] = A[g+8][2t+8..]
     B (16 x 8):             b[0] = B[2t..][g], b[1] = B[2t+8..][g]   (two k, one column)
     C, D (16 x 8):          d[0], d[1] = D[g][2t..], d[2], d[3] = D[g+8][2t..]
   ldmatrix_x4 gives a[0..3] when lane l passes the address of A[l % 16][8 * (l / 16)], rows
   16-byte aligned. For B stored as rows of k ([n][k]) ldmatrix_x4 gives b of two 8-column tiles
   when lane l passes [8 * (l / 16) + l % 8][8 * (l / 8 % 2)]; for B stored as rows of n ([k][n])
   use ldmatrix_x4_trans with [l % 16][8 * (l / 16)]. */

KS_DEVICE void ldmatrix_x4(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_address(row))
               : "memory");
}
KS_DEVICE void ldmatrix_x4_trans(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_address(row))
               : "memory");
}
/* d += a * b */
KS_DEVICE void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
KS_DEVICE void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#ifdef KS_HAS_SM89
/* fp8: as above with four values a word, so 4t instead of 2t and +16 instead of +8 along k. */
KS_DEVICE void mma_m16n8k32_e4m3(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif
#endif /* KS_HAS_SM80 */

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WARP_MATRIX_H_
