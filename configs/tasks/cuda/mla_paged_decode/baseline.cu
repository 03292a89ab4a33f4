// Multi-head latent attention decode: every sequence is cut into 32 parts of equal length, one
// block per (sequence, part), one warp per head; tokens go through shared memory, where all heads
// read them. A second kernel joins the parts.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kHeads = 16;
constexpr int kCkvDim = 512;
constexpr int kKpeDim = 64;
constexpr int kKeyDim = kCkvDim + kKpeDim;
constexpr int kParts = 32;
constexpr int kThreads = kHeads * 32;
constexpr int kTokens = 16;            // in shared memory at a time
constexpr int kOwn = kKeyDim / 32;     // elements of a key per lane: lane, lane + 32, ...
constexpr int kOwnCkv = kCkvDim / 32;  // the first of them are the value's
constexpr float kLog2E = 1.44269504f;

struct Cache {
  const __nv_bfloat16* ckv;
  const __nv_bfloat16* kpe;
  const int32_t* indptr;
  const int32_t* indices;
};

// For one (sequence, head, part): running maximum, sum of weights, weighted sum of values.
struct Partial {
  float max, sum, value[kCkvDim];
};

__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void AttendPart(const __nv_bfloat16* q_nope, const __nv_bfloat16* q_pe, Cache cache,
                           float sm_scale, Partial* partials) {
  __shared__ __align__(16) __nv_bfloat16 keys[kTokens][kKeyDim];
  const int sequence = blockIdx.x, part = blockIdx.y;
  const int lane = threadIdx.x % 32;
  const int tokens = cache.indptr[sequence + 1] - cache.indptr[sequence];
  const int length = (tokens + kParts - 1) / kParts;
  const int begin = min(part * length, tokens), end = min(begin + length, tokens);
  const int32_t* pages = cache.indices + cache.indptr[sequence];
  const int64_t row = static_cast<int64_t>(sequence) * kHeads + threadIdx.x / 32;

  float query[kOwn], value[kOwnCkv] = {};
  for (int i = 0; i < kOwn; ++i) {
    const int d = lane + 32 * i;
    query[i] = sm_scale * __bfloat162float(d < kCkvDim ? q_nope[row * kCkvDim + d]
                                                       : q_pe[row * kKpeDim + d - kCkvDim]);
  }
  float max = -INFINITY, sum = 0;
  for (int first = begin; first < end; first += kTokens) {
    const int count = min(kTokens, end - first);
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
  Partial* partial = partials + row * kParts + part;
  for (int i = 0; i < kOwnCkv; ++i) partial->value[lane + 32 * i] = value[i];
  if (lane == 0) {
    partial->max = max;
    partial->sum = sum;
  }
}

__global__ void Join(const Partial* partials, __nv_bfloat16* output, float* lse) {
  const int64_t row = blockIdx.x;
  const Partial* parts = partials + row * kParts;
  float max = -INFINITY;
  for (int i = 0; i < kParts; ++i) max = fmaxf(max, parts[i].max);
  float sum = 0, value = 0;
  for (int i = 0; i < kParts; ++i) {
    if (parts[i].sum == 0) continue;
    const float shrink = expf(parts[i].max - max);
    sum += parts[i].sum * shrink;
    value += parts[i].value[threadIdx.x] * shrink;
  }
  output[row * kCkvDim + threadIdx.x] = __float2bfloat16(sum == 0 ? 0.0f : value / sum);
  if (threadIdx.x == 0) lse[row] = sum == 0 ? -INFINITY : (max + logf(sum)) * kLog2E;
}

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->batch_size * kHeads * kParts * static_cast<int64_t>(sizeof(Partial));
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const Cache cache = {reinterpret_cast<const __nv_bfloat16*>(args->ckv_cache),
                       reinterpret_cast<const __nv_bfloat16*>(args->kpe_cache), args->kv_indptr,
                       args->kv_indices};
  Partial* partials = static_cast<Partial*>(args->workspace);
  const dim3 grid(static_cast<unsigned>(args->batch_size), kParts);
  AttendPart<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->q_nope),
                                            reinterpret_cast<const __nv_bfloat16*>(args->q_pe),
                                            cache, static_cast<float>(args->sm_scale), partials);
  const dim3 rows(static_cast<unsigned>(args->batch_size * kHeads));
  Join<<<rows, kCkvDim, 0, stream>>>(partials, reinterpret_cast<__nv_bfloat16*>(args->output),
                                     args->lse);
  return cudaGetLastError();
}
