/* Within a block: wide accesses, reductions, named barriers. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_BLOCK_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_BLOCK_H_

namespace ks {

/* ---------------------------------------------------------------- 128-bit access
   Pointers are 16-byte aligned. */

KS_DEVICE uint4 load128(const void* p) { return *reinterpret_cast<const uint4*>(p); }
KS_DEVICE void store128(void* p, uint4 v) { *reinterpret_cast<uint4*>(p) = v; }
/* Global memory that nobody writes meanwhile, read once: bypasses L1. */
KS_DEVICE uint4 load128_stream(const void* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(p)));
  return v;
}
/* Written and not read again soon. */
KS_DEVICE void store128_stream(void* p, uint4 v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
/* A pointer into shared memory as the 32-bit address that PTX wants. */
KS_DEVICE uint32_t smem_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* ---------------------------------------------------------------- reductions
   Over groups of `width` neighboring lanes (a power of two); every lane gets the result. All 32
   lanes must take part. */

template <int width = 32>
KS_DEVICE float warp_sum(float x) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(~0u, x, offset);
  return x;
}
template <int width = 32>
KS_DEVICE float warp_max(float x) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    x = fmaxf(x, __shfl_xor_sync(~0u, x, offset));
  return x;
}
/* Over a block of `threads` (a multiple of 32); `scratch` is 32 floats of shared memory. Every
   thread gets the result and may use `scratch` again at once. */
template <int threads>
KS_DEVICE float block_sum(float x, float* scratch) {
  static_assert(threads % 32 == 0 && threads <= 1024, "threads");
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  x = (threadIdx.x % 32 < threads / 32) ? scratch[threadIdx.x % 32] : 0.0f;
  x = warp_sum(x);
  __syncthreads();
  return x;
}

/* ---------------------------------------------------------------- barriers within a block */

/* bar.sync: waits for `threads` threads (a multiple of 32) at barrier `id`, 1 to 15. */
KS_DEVICE void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_BLOCK_H_
