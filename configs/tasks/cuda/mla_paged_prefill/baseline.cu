// Causal multi-head latent attention prefill: one block per query token, one warp per head; tokens
// go through shared memory, where all heads read them. No tensor cores.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kHeads = 16;
constexpr int kCkvDim = 512;
constexpr int kKpeDim = 64;
constexpr int kKeyDim = kCkvDim + kKpeDim;
constexpr int kThreads = kHeads * 32;
constexpr int kTokens = 16;            // in shared memory at a time
constexpr int kOwn = kKeyDim / 32;     // elements of a key per lane: lane, lane + 32, ...
constexpr int kOwnCkv = kCkvDim / 32;  // the first of them are the value's
constexpr float kLog2E = 1.44269504f;

struct Cache {
  const __nv_bfloat16* ckv;
  const __nv_bfloat16* kpe;
  const int32_t* qo_indptr;
  const int32_t* kv_indptr;
  const int32_t* indices;
};

__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void Attend(const __nv_bfloat16* q_nope, const __nv_bfloat16* q_pe, Cache cache,
                       float sm_scale, __nv_bfloat16* output, float* lse) {
  __shared__ __align__(16) __nv_bfloat16 keys[kTokens][kKeyDim];
  const int token = blockIdx.x, lane = threadIdx.x % 32;
  int sequence = 0;
  while (cache.qo_indptr[sequence + 1] <= token) ++sequence;
  const int32_t* pages = cache.indices + cache.kv_indptr[sequence];
  const int seen = cache.kv_indptr[sequence + 1] - cache.kv_indptr[sequence] -
                   (cache.qo_indptr[sequence + 1] - 1 - token);
  const int64_t row = static_cast<int64_t>(token) * kHeads + threadIdx.x / 32;

  float query[kOwn], value[kOwnCkv] = {};
  for (int i = 0; i < kOwn; ++i) {
    const int d = lane + 32 * i;
    query[i] = sm_scale * __bfloat162float(d < kCkvDim ? q_nope[row * kCkvDim + d]
                                                       : q_pe[row * kKpeDim + d - kCkvDim]);
  }
  float max = -INFINITY, sum = 0;
  for (int first = 0; first < seen; first += kTokens) {
    const int count = min(kTokens, seen - first);
    constexpr int kPieces = kKeyDim / 8;  // of 16 bytes
    for (int i = threadIdx.x; i < count * kPieces; i += kThreads) {
      const int64_t page = pages[first + i / kPieces];
      const int d = i % kPieces * 8;
      const __nv_bfloat16* source =
          d < kCkvDim ? cache.ckv + page * kCkvDim + d : cache.kpe + page * kKpeDim + d - kCkvDim;
      *reinterpret_cast<uint4*>(&keys[i / kPieces][d]) = *reinterpret_cast<const uint4*>(source);
    }
    __syncthreads();
    for (int t = 0; t < count; ++t) {
      float key[kOwn], dot = 0;
      for (int i = 0; i < kOwn; ++i) {
        key[i] = __bfloat162float(keys[t][lane + 32 * i]);
        dot += query[i] * key[i];
      }
      const float logit = WarpSum(dot);
      const float new_max = fmaxf(max, logit);
      const float shrink = expf(max - new_max), weight = expf(logit - new_max);
      sum = sum * shrink + weight;
      for (int i = 0; i < kOwnCkv; ++i) value[i] = value[i] * shrink + weight * key[i];
      max = new_max;
    }
    __syncthreads();
  }
  for (int i = 0; i < kOwnCkv; ++i) {
    output[row * kCkvDim + lane + 32 * i] = __float2bfloat16(sum == 0 ? 0.0f : value[i] / sum);
  }
  if (lane == 0) lse[row] = sum == 0 ? -INFINITY : (max + logf(sum)) * kLog2E;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->total_q == 0) return 0;
  const Cache cache = {reinterpret_cast<const __nv_bfloat16*>(args->ckv_cache),
                       reinterpret_cast<const __nv_bfloat16*>(args->kpe_cache), args->qo_indptr,
                       args->kv_indptr, args->kv_indices};
  const dim3 grid(static_cast<unsigned>(args->total_q));
  Attend<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->q_nope),
                                        reinterpret_cast<const __nv_bfloat16*>(args->q_pe), cache,
                                        static_cast<float>(args->sm_scale),
                                        reinterpret_cast<__nv_bfloat16*>(args->output), args->lse);
  return cudaGetLastError();
}
