/* Copies that go on by themselves, and how to wait for them. */
#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_ASYNC_COPY_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_ASYNC_COPY_H_

namespace ks {

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

/* ---------------------------------------------------------------- mbarrier
   PTX: mbarrier. A uint64_t in shared memory, 8-byte aligned. One thread initializes it with the
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
#endif /* KS_HAS_SM90 */

/* Byte offset within a 1024-byte aligned tile of 128-byte rows -> where the 128-byte swizzle of TMA
   and wgmma puts it: the 16-byte chunk is xor-ed with the row's number modulo 8. */
__host__ __device__ __forceinline__ uint32_t swizzle128(uint32_t offset) {
  return offset ^ ((offset >> 3) & 0x70u);
}

}  // namespace ks

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_HEADER_ASYNC_COPY_H_
