// Nothing but matrix instructions, on operands in shared memory or registers: how many operations a
// multiprocessor does in a clock. Runs in the verifier's own context only.
#include <cuda_bf16.h>
#include <stdint.h>

#include "gpu_worker/build/cuda/ksearch_cuda.h"

namespace {

// Two warpgroups: one issues while the other waits.
constexpr int kThreads = 256;

__device__ uint32_t Mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Numbers of either sign around 1, with random digits: zeros would draw less power.
__device__ uint32_t RandomHalves(uint32_t place) {
  return (Mix(place) & 0x80ff80ffu) | 0x3f003f00u;
}
__device__ uint32_t RandomBytes(uint32_t place) { return (Mix(place) & 0x87878787u) | 0x38383838u; }

// What thread 0 of each block writes: clocks from first to last instruction, operations in them.
__device__ void Report(long long begin, uint64_t operations, uint64_t* report) {
  if (threadIdx.x != 0) return;
  report[2 * blockIdx.x] = static_cast<uint64_t>(clock64() - begin);
  report[2 * blockIdx.x + 1] = operations;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <bool kBytes>
__device__ void Multiply(int rounds, uint64_t* report) {
  constexpr int kRows = 64, kColumns = 256, kWords = 32;  // of 128 bytes
  constexpr int kSteps = 4;                               // of K, 32 bytes each
  __shared__ alignas(1024) uint32_t a[kRows * kWords];
  __shared__ alignas(1024) uint32_t b[kColumns * kWords];
  for (int i = threadIdx.x; i < kRows * kWords; i += kThreads) {
    a[i] = kBytes ? RandomBytes(i) : RandomHalves(i);
  }
  for (int i = threadIdx.x; i < kColumns * kWords; i += kThreads) {
    b[i] = kBytes ? RandomBytes(i + 65536) : RandomHalves(i + 65536);
  }
  float d[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) d[i] = 0;
  ks::fence_async_shared();
  __syncthreads();
  const long long begin = clock64();
  for (int round = 0; round < rounds; ++round) {
    ks::wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint64_t da = ks::wgmma_descriptor(a, 32 * step);
      const uint64_t db = ks::wgmma_descriptor(b, 32 * step);
      if constexpr (kBytes) {
        ks::wgmma_m64n256k32_e4m3(d, da, db, 1);
      } else {
        ks::wgmma_m64n256k16_bf16(d, da, db, 1);
      }
    }
    ks::wgmma_commit();
    ks::wgmma_wait<1>();
  }
  ks::wgmma_wait<0>();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  // The sum is never this number, which the compiler does not know.
  if (sum == 1.2345e30f) report[0] = 0;
  __syncthreads();
  constexpr uint64_t kEach = 2ull * kRows * kColumns * (kBytes ? 32 : 16);
  Report(begin, kEach * kSteps * (kThreads / 128) * static_cast<uint64_t>(rounds), report);
}

#else

template <bool kBytes>
__device__ void Multiply(int rounds, uint64_t* report) {
  constexpr int kAccumulators = 16;  // independent of one another
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) {
    a[i] = kBytes ? RandomBytes(4 * threadIdx.x + i) : RandomHalves(4 * threadIdx.x + i);
  }
  for (int i = 0; i < 2; ++i) {
    b[i] = kBytes ? RandomBytes(65536 + 2 * threadIdx.x + i)
                  : RandomHalves(65536 + 2 * threadIdx.x + i);
  }
  float d[kAccumulators][4] = {};
  __syncthreads();
  const long long begin = clock64();
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kAccumulators; ++i) {
      if constexpr (kBytes) {
        ks::mma_m16n8k32_e4m3(d[i], a, b[0], b[1]);
      } else {
        ks::mma_m16n8k16_bf16(d[i], a, b[0], b[1]);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];
  if (sum == 1.2345e30f) report[0] = 0;
  __syncthreads();
  constexpr uint64_t kEach = 2ull * 16 * 8 * (kBytes ? 32 : 16);
  Report(begin, kEach * kAccumulators * (kThreads / 32) * static_cast<uint64_t>(rounds), report);
}

#endif

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    ksearch_peak_halves(int rounds, uint64_t* report) {
  Multiply<false>(rounds, report);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    ksearch_peak_bytes(int rounds, uint64_t* report) {
  Multiply<true>(rounds, report);
}
