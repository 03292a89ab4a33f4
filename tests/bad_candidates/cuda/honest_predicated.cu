// Barriers in inline PTX with predicates and labels: the upper warps only arrive, the lower ones
// wait, each by a predicate that is the same for a whole warp; a barrier that counts; a loop around
// mbarrier.try_wait with a label of its own.
#include "rows.cuh"

namespace {
using namespace corpus;

__device__ void ArriveOrSync(bool waits, int barrier, int threads) {
  asm volatile(
      "{\n"
      ".reg .pred waits;\n"
      "setp.ne.u32 waits, %0, 0;\n"
      "@waits bar.sync %1, %2;\n"
      "@!waits bar.arrive %1, %2;\n"
      "}" ::"r"(static_cast<unsigned>(waits)),
      "r"(barrier), "r"(threads)
      : "memory");
}

__device__ int CountAll(bool value) {
  int count;
  asm volatile(
      "{\n"
      ".reg .pred counted;\n"
      "setp.ne.u32 counted, %1, 0;\n"
      "barrier.cta.red.popc.aligned.u32 %0, 2, 256, counted;\n"
      "}"
      : "=r"(count)
      : "r"(static_cast<unsigned>(value))
      : "memory");
  return count;
}

__global__ void NormalizeRows(const Bf16* x, const Bf16* weight, int, Bf16* y) {
  __shared__ float sums[8];
  __shared__ float factor_of_row;
  __shared__ __align__(8) unsigned long long ready;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&ready));
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kHidden;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
  }
  const float sum = WarpSum(Squares(x + at, static_cast<int>(threadIdx.x), 256));
  if (threadIdx.x % 32 == 0) sums[warp] = sum;
  // All 256 threads: finite sums are counted, which also orders the initialization before its use.
  const int finite = CountAll(sum == sum);
  // Warp 0 needs the sums of all; the others go on at once.
  ArriveOrSync(warp == 0, 3, 256);
  if (threadIdx.x == 0) {
    float total = 0;
    for (const float part : sums) total += part;
    factor_of_row = rsqrtf(total / kHidden + kEpsilon) * (finite >= 0 ? 1.0f : 0.0f);
    asm volatile(
        "{\n.reg .b64 state;\nmbarrier.arrive.release.cta.shared::cta.b64 state, [%0];\n}" ::"r"(
            address)
        : "memory");
  }
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "AGAIN_%=:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra AGAIN_%=;\n"
      "}" ::"r"(address)
      : "memory");
  const float factor = factor_of_row;
  for (int i = static_cast<int>(threadIdx.x); i < kHidden; i += 256) {
    y[at + i] =
        __float2bfloat16(__bfloat162float(x[at + i]) * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

CORPUS_RUN(NormalizeRows, 1, 256)
