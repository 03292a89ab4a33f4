// 16 bytes a load, a row kept in registers between its two passes.
#include "ksearch_cuda.h"
#include "rmsnorm.cuh"

namespace {

using corpus::Bf16;
constexpr int kPieces = 4096 / 8 / corpus::kThreads;  // of 8 elements a thread

__global__ void Normalize(const Bf16* x, const Bf16* weight, Bf16* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 4096;
  float values[kPieces][8];
  float sum = 0;
  for (int p = 0; p < kPieces; ++p) {
    const int column = (p * corpus::kThreads + static_cast<int>(threadIdx.x)) * 8;
    ks::unpack_bf16x8(ks::load128_stream(x + at + column), values[p]);
    for (int i = 0; i < 8; ++i) sum += values[p][i] * values[p][i];
  }
  const float factor = rsqrtf(corpus::BlockSum(sum) / 4096.0f + corpus::kEpsilon);
  for (int p = 0; p < kPieces; ++p) {
    const int column = (p * corpus::kThreads + static_cast<int>(threadIdx.x)) * 8;
    float scale[8];
    ks::unpack_bf16x8(ks::load128(weight + column), scale);
    for (int i = 0; i < 8; ++i) values[p][i] *= factor * scale[i];
    ks::store128_stream(y + at + column, ks::pack_bf16x8(values[p]));
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), corpus::Output(args));
  return cudaGetLastError();
}
