/* ksearch_cuda.h: thin wrappers for what CUDA C++ leaves to PTX. Lies beside ksearch_task.h;
   include it if you want it. Everything is in namespace ks and inline; nothing here launches,
   allocates or synchronises. Names follow the PTX ISA, whose sections are given as "PTX: ...".

   What needs which architecture (what an architecture lacks is not declared in its device pass):
     any       conversions, 128-bit access, reductions, KSEARCH_LAUNCH_CHECK
     sm_80     cp.async, ldmatrix, mma.sync (fp8: sm_89), mbarrier without transactions
     sm_90     mbarrier transactions, bulk and tensor (TMA) copies, proxies, dependent launches
     sm_90a    wgmma, setmaxnreg (also sm_100a) */
#ifndef KSEARCH_CUDA_H_
#define KSEARCH_CUDA_H_

#include <cuda.h> /* types only: no driver function is called by name */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <stdint.h>

/* In the entry, after each launch: returns the launch's error from the function. */
#define KSEARCH_LAUNCH_CHECK()                                     \
  do {                                                             \
    const cudaError_t ksearch_error_ = cudaGetLastError();         \
    if (ksearch_error_ != cudaSuccess) return (int)ksearch_error_; \
  } while (0)
/* The same for a call of the runtime. */
#define KSEARCH_CHECK(call)                                        \
  do {                                                             \
    const cudaError_t ksearch_error_ = (call);                     \
    if (ksearch_error_ != cudaSuccess) return (int)ksearch_error_; \
  } while (0)

#define KS_DEVICE __device__ __forceinline__
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define KS_HAS_SM80 1
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define KS_HAS_SM89 1
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define KS_HAS_SM90 1
#endif
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KS_HAS_WGMMA 1
#endif
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
#define KS_HAS_SETMAXNREG 1
#endif

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
   Over groups of `width` neighbouring lanes (a power of two); every lane gets the result. All 32
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

#ifdef KS_HAS_SM80
/* ---------------------------------------------------------------- cp.async
   PTX: cp.async. Copies 16 bytes global -> shared without registers. Groups complete in order:
   cp_async_wait<n>() returns when at most the n newest groups of this thread are unfinished;
   __syncthreads() then makes them visible to the block. */

KS_DEVICE void cp_async16(void* smem, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_address(smem)),
               "l"(__cvta_generic_to_global(global))
               : "memory");
}
/* Writes zeros and reads nothing if not `valid`. */
KS_DEVICE void cp_async16_or_zero(void* smem, const void* global, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_address(smem)),
               "l"(__cvta_generic_to_global(global)), "r"(valid ? 16 : 0)
               : "memory");
}
KS_DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n>
KS_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

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

/* ---------------------------------------------------------------- mbarrier
   PTX: mbarrier. A uint64_t in shared memory, 8-byte aligned. One thread initialises it with the
   number of arrivals of a phase; then mbarrier_fence_init() (sm_90) and __syncthreads(). Phases
   have parity 0, 1, 0, ...: mbarrier_wait(b, p) returns when the phase of parity p is complete, so
   a consumer starts with parity 0, and a producer that waits for "empty" slots with parity 1. */

KS_DEVICE void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(arrivals)
               : "memory");
}
KS_DEVICE void mbarrier_arrive(uint64_t* barrier) {
  asm volatile(
      "{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(smem_address(barrier))
      : "memory");
}
#endif /* KS_HAS_SM80 */

#ifdef KS_HAS_SM90
KS_DEVICE void mbarrier_fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/* One arrival that also announces `bytes` of copies, before or after they are started. */
KS_DEVICE void mbarrier_arrive_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile(
      "{\n.reg .b64 state;\nmbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;\n}" ::"r"(
          smem_address(barrier)),
      "r"(bytes)
      : "memory");
}
KS_DEVICE bool mbarrier_try_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(smem_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}
KS_DEVICE void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}
/* Between ordinary writes to shared memory and their use by wgmma, bulk or tensor copies: every
   writing thread, before the barrier that joins them. */
KS_DEVICE void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* ---------------------------------------------------------------- bulk copies
   PTX: cp.async.bulk. One thread starts them; addresses and sizes are multiples of 16 bytes. A load
   completes on an mbarrier, a store in a bulk group of the thread. */

KS_DEVICE void bulk_load(void* smem, const void* global, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(smem_address(smem)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(smem_address(barrier))
      : "memory");
}
KS_DEVICE void bulk_store(void* global, const void* smem, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(global)),
               "r"(smem_address(smem)), "r"(bytes)
               : "memory");
}
KS_DEVICE void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/* At most the n newest groups are unfinished: written to memory; or (read) read from shared memory,
   which may then be used again. */
template <int n>
KS_DEVICE void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}
template <int n>
KS_DEVICE void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}

/* ---------------------------------------------------------------- tensor copies (TMA)
   PTX: cp.async.bulk.tensor. The map is made on the host by make_tensor_map_2d and passed by value
   as a `const __grid_constant__ CUtensorMap` parameter. One thread starts a copy of a box; x counts
   elements within a row, y rows; what lies outside the tensor is read as zero and not written. The
   box lies densely in shared memory, 128-byte aligned (1024 with 128-byte swizzle), and counts
   box_rows * box_columns * element size bytes on the barrier. */

KS_DEVICE void tma_prefetch(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
KS_DEVICE void tma_load_2d(void* smem, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(smem_address(smem)),
      "l"(map), "r"(x), "r"(y), "r"(smem_address(barrier))
      : "memory");
}
/* Completes in a bulk group: bulk_commit, bulk_wait. */
KS_DEVICE void tma_store_2d(const CUtensorMap* map, int x, int y, const void* smem) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(smem_address(smem))
      : "memory");
}

/* ---------------------------------------------------------------- dependent launches
   PTX: griddepcontrol; for kernels launched with the attribute
   cudaLaunchAttributeProgrammaticStreamSerialization. */
KS_DEVICE void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
KS_DEVICE void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif /* KS_HAS_SM90 */

/* Byte offset within a 1024-byte aligned tile of 128-byte rows -> where the 128-byte swizzle of TMA
   and wgmma puts it: the 16-byte chunk is xor-ed with the row's number modulo 8. */
__host__ __device__ __forceinline__ uint32_t swizzle128(uint32_t offset) {
  return offset ^ ((offset >> 3) & 0x70u);
}

#ifdef KS_HAS_SETMAXNREG
/* PTX: setmaxnreg. By all warps of a warpgroup; n is a multiple of 8 in 24..256. */
template <int n>
KS_DEVICE void registers_release() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n>
KS_DEVICE void registers_claim() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}
#endif

#ifdef KS_HAS_WGMMA
/* ---------------------------------------------------------------- wgmma (sm_90a)
   PTX: wgmma.mma_async. 128 threads (a warpgroup: warps 4i..4i+3) compute D[64][N] += A * B with
   K = 16 (bf16) or 32 (e4m3). Order:
     fence_async_shared(); __syncthreads();   if operands were written by ordinary stores
     wgmma_fence();                           before the first, and after touching d
     wgmma_...(d, a, b, accumulate); ...      asynchronous: leave d and the operands alone
     wgmma_commit(); wgmma_wait<0>();         now d can be read
   accumulate = 0 sets D = A * B instead. Touching d between (even moving it) makes ptxas serialise
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

/* ---------------------------------------------------------------- host: tensor maps */

/* A row-major [rows][columns] tensor, rows `row_bytes` apart (a multiple of 16), base 16-byte
   aligned; box [box_rows][box_columns], each at most 256. `type` e.g.
   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 (fp8: ..._UINT8). With a swizzle of n bytes a box row has at
   most n bytes. Cheap (microseconds of the host, no device work): call it in the entry, every time.
 */
inline cudaError_t make_tensor_map_2d(CUtensorMap* map, CUtensorMapDataType type, const void* base,
                                      uint64_t rows, uint64_t columns, uint64_t row_bytes,
                                      uint32_t box_rows, uint32_t box_columns,
                                      CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  typedef CUresult (*Encode)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                             const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                             const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode encode = nullptr;
  if (encode == nullptr) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult query;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                               12000, cudaEnableDefault, &query);
    if (error != cudaSuccess) return error;
    if (query != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
    encode = (Encode)found;
  }
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t strides[1] = {row_bytes};
  const cuuint32_t box[2] = {box_columns, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result =
      encode(map, type, 2, const_cast<void*>(base), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace ks

#endif  // KSEARCH_CUDA_H_
