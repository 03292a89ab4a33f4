/* Products of warpgroups: operands and order. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_H_

namespace ks {

#ifdef KS_HAS_WGMMA
/* ---------------------------------------------------------------- wgmma (sm_90a)
   PTX: wgmma.mma_async. 128 threads (a warpgroup: warps 4i..4i+3) compute D[64][N] += A * B with
   K = 16 (bf16) or 32 (e4m3). Order:
     fence_async_shared(); __syncthreads();   if operands were written by ordinary stores
     wgmma_fence();                           before the first, and after touching d
     wgmma_...(d, a, b, accumulate); ...      asynchronous: leave d and the operands alone
     wgmma_commit(); wgmma_wait<0>();         now d can be read
   accumulate = 0 sets D = A * B instead. Touching d between (even moving it) makes ptxas serialize
   everything: it says so in a warning.
   Thread 32 * w + 4 * g + t of the warpgroup holds, for j = 0 .. N/8 - 1,
     d[4j], d[4j+1] = D[16w + g][8j + 2t ..], d[4j+2], d[4j+3] = D[16w + g + 8][8j + 2t ..]
   and, where A comes from registers (_rs), a[0..3] as in mma.sync for its rows 16w .. 16w+15.

   Operands in shared memory are named by descriptors. "K-major": rows of K ([m][k], [n][k]);
   "MN-major": rows of M or N (bf16 only, trans = 1). With 128-byte swizzle, whose rows are 128
   bytes (64 bf16, 128 e4m3) and whose 8-row groups are 1024 bytes, 1024-byte aligned: K-major
   wgmma_descriptor(tile): any number of rows, one after the other. The next k-step is 32 bytes on:
   wgmma_descriptor(tile, 32 * step). MN-major  wgmma_descriptor_mn(tile, stride): 64 values of M or
   N per row, a row per k; `stride` bytes to the tile of the next 64 values. The next 16 k are 2048
   bytes on. */

KS_DEVICE uint64_t wgmma_descriptor_raw(uint32_t address, uint32_t leading_bytes,
                                        uint32_t stride_bytes, uint32_t swizzle) {
  /* swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes */
  return (uint64_t)((address & 0x3ffffu) >> 4) | (uint64_t)((leading_bytes & 0x3ffffu) >> 4) << 16 |
         (uint64_t)((stride_bytes & 0x3ffffu) >> 4) << 32 | (uint64_t)swizzle << 62;
}
KS_DEVICE uint64_t wgmma_descriptor(const void* tile, uint32_t byte_offset = 0) {
  return wgmma_descriptor_raw(smem_address(tile) + byte_offset, 16, 1024, 1);
}
KS_DEVICE uint64_t wgmma_descriptor_mn(const void* tile, uint32_t stride,
                                       uint32_t byte_offset = 0) {
  return wgmma_descriptor_raw(smem_address(tile) + byte_offset, stride, 1024, 1);
}
KS_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
KS_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n>
KS_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}

#define KS_D8(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define KS_D32(i) KS_D8(i), KS_D8(i + 8), KS_D8(i + 16), KS_D8(i + 24)
#define KS_R8_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define KS_R8_1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define KS_R8_2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define KS_R8_3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define KS_R8_4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define KS_R8_5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define KS_R8_6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define KS_R8_7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define KS_R8_8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define KS_R8_9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define KS_R8_10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define KS_R8_11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define KS_R8_12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define KS_R8_13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define KS_R8_14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define KS_R8_15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define KS_R32_0 KS_R8_0 ", " KS_R8_1 ", " KS_R8_2 ", " KS_R8_3
#define KS_R32_1 KS_R8_4 ", " KS_R8_5 ", " KS_R8_6 ", " KS_R8_7
#define KS_R32_2 KS_R8_8 ", " KS_R8_9 ", " KS_R8_10 ", " KS_R8_11
#define KS_R32_3 KS_R8_12 ", " KS_R8_13 ", " KS_R8_14 ", " KS_R8_15
#endif /* KS_HAS_WGMMA */

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_WGMMA_H_
