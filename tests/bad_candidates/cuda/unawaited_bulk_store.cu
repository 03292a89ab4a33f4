// Rows are normalized in shared memory and stored by bulk copies that nobody waits for: the block
// ends while its shared memory is being read.
#include "ksearch_cuda.h"
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
constexpr int kHidden = 4096;
__global__ void Run(const Bf16* x, const Bf16* weight, Bf16* y) {
  __shared__ alignas(128) Bf16 row[kHidden];
  x += static_cast<int64_t>(blockIdx.x) * kHidden;
  y += static_cast<int64_t>(blockIdx.x) * kHidden;
  const auto* pairs = reinterpret_cast<const uint4*>(x);
  const auto* weights = reinterpret_cast<const uint4*>(weight);
  float values[2][8];
  float sum = 0;
  for (int part = 0; part < 2; ++part) {
    const uint4 four = pairs[threadIdx.x + part * corpus::kThreads];
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
    for (int i = 0; i < 4; ++i) {
      values[part][2 * i] = __uint_as_float(words[i] << 16);
      values[part][2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
    for (int i = 0; i < 8; ++i) sum += values[part][i] * values[part][i];
  }
  const float factor = rsqrtf(corpus::BlockSum(sum) / kHidden + corpus::kEpsilon);
  auto* outputs = reinterpret_cast<uint4*>(row);
  for (int part = 0; part < 2; ++part) {
    const uint4 four = weights[threadIdx.x + part * corpus::kThreads];
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
    unsigned out[4];
    for (int i = 0; i < 4; ++i) {
      const __nv_bfloat162 both = __floats2bfloat162_rn(
          values[part][2 * i] * factor * __uint_as_float(words[i] << 16),
          values[part][2 * i + 1] * factor * __uint_as_float(words[i] & 0xffff0000u));
      out[i] = *reinterpret_cast<const unsigned*>(&both);
    }
    outputs[threadIdx.x + part * corpus::kThreads] = make_uint4(out[0], out[1], out[2], out[3]);
  }
  ks::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ks::bulk_store(y, row, kHidden * 2);
    ks::bulk_commit();
  }
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Run<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), corpus::Output(args));
  return cudaGetLastError();
}
