// Allocates scratch of its own in its first call, grows it when it must, and writes it before it
// reads it.
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Widen(const Bf16* x, int64_t elements, float* wide) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (at < elements) wide[at] = __bfloat162float(x[at]);
}
__global__ void Normalize(const float* x, const Bf16* weight, int hidden, Bf16* y) {
  x += static_cast<int64_t>(blockIdx.x) * hidden;
  y += static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) sum += x[i] * x[i];
  const float factor =
      rsqrtf(corpus::BlockSum(sum) / static_cast<float>(hidden) + corpus::kEpsilon);
  for (int i = threadIdx.x; i < hidden; i += corpus::kThreads) {
    y[i] = __float2bfloat16(x[i] * factor * __bfloat162float(weight[i]));
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static float* wide = nullptr;
  static int64_t room = 0;
  const int64_t elements = corpus::Elements(args);
  if (elements == 0) return 0;
  if (elements > room) {
    cudaFree(wide);
    wide = static_cast<float*>(corpus::Keep(elements * static_cast<int64_t>(sizeof(float))));
    if (wide == nullptr) return cudaErrorMemoryAllocation;
    room = elements;
  }
  Widen<<<static_cast<unsigned>((elements + 255) / 256), 256, 0, stream>>>(corpus::Input(args),
                                                                           elements, wide);
  Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      wide, corpus::Weight(args), static_cast<int>(args->hidden_size), corpus::Output(args));
  return cudaGetLastError();
}
