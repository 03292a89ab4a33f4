// As much of the CUDA runtime as the task programs use, on the CPU: blocks run one after another,
// the threads of a block as fibers that change over where they wait for each other. A test rewrites
// `kernel<<<grid, threads, 0, stream>>>(...)` to cuda_on_cpu::Launch before it compiles a program.
#ifndef KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_RUNTIME_H_
#define KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_RUNTIME_H_

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

using std::max;
using std::min;

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __restrict__

using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};

static dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_on_cpu {

constexpr size_t kStackBytes = 96 << 10;
constexpr size_t kMaxThreads = 1024;

enum class Wait { kNone, kWarp, kBlock, kDone };

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  Wait wait = Wait::kNone;
};

static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static unsigned running = 0;
static uint64_t exchanged[kMaxThreads];
static std::function<void()> body;

inline void Stop(Wait wait) {
  fibers[running].wait = wait;
  swapcontext(&fibers[running].context, &scheduler);
}

inline void Enter() {
  body();
  Stop(Wait::kDone);
}

// Lets every thread of [begin, end) go on if all of them wait for `wait` or are done.
inline bool Release(unsigned begin, unsigned end, Wait wait) {
  bool any = false;
  for (unsigned i = begin; i < end; ++i) {
    if (fibers[i].wait == wait) {
      any = true;
    } else if (fibers[i].wait != Wait::kDone) {
      return false;
    }
  }
  for (unsigned i = begin; any && i < end; ++i) {
    if (fibers[i].wait == wait) fibers[i].wait = Wait::kNone;
  }
  return any;
}

inline void RunBlock(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& fiber = fibers[i];
    if (!fiber.stack) fiber.stack = std::make_unique<char[]>(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, Enter, 0);
    fiber.wait = Wait::kNone;
  }
  while (true) {
    for (unsigned i = 0; i < threads; ++i) {
      if (fibers[i].wait != Wait::kNone) continue;
      running = i;
      threadIdx.x = i;
      swapcontext(&scheduler, &fibers[i].context);
    }
    bool released = false;
    for (unsigned i = 0; i < threads; i += 32) {
      released = Release(i, min(i + 32, threads), Wait::kWarp) || released;
    }
    if (released || Release(0, threads, Wait::kBlock)) continue;
    for (unsigned i = 0; i < threads; ++i) {
      if (fibers[i].wait == Wait::kDone) continue;
      std::fprintf(stderr, "the threads of a block wait for each other for ever\n");
      std::abort();
    }
    return;
  }
}

inline void Launch(dim3 grid, dim3 block, std::function<void()> kernel) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x > kMaxThreads || grid.y > 65535 ||
      grid.z > 65535) {
    std::fprintf(stderr, "a launch no GPU would take\n");
    std::abort();
  }
  if (fibers.size() < block.x) fibers.resize(block.x);
  body = std::move(kernel);
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) RunBlock(block.x);
    }
  }
}

}  // namespace cuda_on_cpu

inline void __syncthreads() { cuda_on_cpu::Stop(cuda_on_cpu::Wait::kBlock); }
inline void __syncwarp() { cuda_on_cpu::Stop(cuda_on_cpu::Wait::kWarp); }

template <class T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
  using namespace cuda_on_cpu;
  const unsigned self = running;
  std::memcpy(&exchanged[self], &value, sizeof(T));
  Stop(Wait::kWarp);
  T other;
  std::memcpy(&other, &exchanged[self ^ static_cast<unsigned>(lanes)], sizeof(T));
  Stop(Wait::kWarp);
  return other;
}

inline int atomicAdd(int* at, int value) {
  const int old = *at;
  *at += value;
  return old;
}
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

#endif  // KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_RUNTIME_H_
