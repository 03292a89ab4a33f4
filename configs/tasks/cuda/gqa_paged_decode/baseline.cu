// Grouped-query attention decode: every sequence is cut into 16 parts of equal length, one block
// per (sequence, key-value head, part), one warp per query head of the group, one token at a time;
// a second kernel joins the parts.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kHeadDim = 128;
constexpr int kGroup = 8;  // query heads of a key-value head
constexpr int kParts = 16;
constexpr int kOwn = kHeadDim / 32;  // elements of a head per lane
constexpr float kLog2E = 1.44269504f;

struct Cache {
  const __nv_bfloat16* k;
  const __nv_bfloat16* v;
  const int32_t* indptr;
  const int32_t* indices;
};

// For one (sequence, query head, part): running maximum, sum of weights, weighted sum of values.
struct Partial {
  float max, sum, value[kHeadDim];
};

__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void AttendPart(const __nv_bfloat16* q, Cache cache, int kv_heads, float sm_scale,
                           Partial* partials) {
  const int sequence = blockIdx.x, kv_head = blockIdx.y, part = blockIdx.z;
  const int head = kv_head * kGroup + threadIdx.x / 32, heads = kv_heads * kGroup;
  const int lane = threadIdx.x % 32;
  const int tokens = cache.indptr[sequence + 1] - cache.indptr[sequence];
  const int length = (tokens + kParts - 1) / kParts;
  const int begin = min(part * length, tokens), end = min(begin + length, tokens);
  const int32_t* pages = cache.indices + cache.indptr[sequence];

  float query[kOwn], value[kOwn] = {};
  const int64_t row = static_cast<int64_t>(sequence) * heads + head;
  for (int i = 0; i < kOwn; ++i) {
    query[i] = __bfloat162float(q[row * kHeadDim + lane * kOwn + i]) * sm_scale;
  }
  float max = -INFINITY, sum = 0;
  for (int token = begin; token < end; ++token) {
    const int64_t at =
        (static_cast<int64_t>(pages[token]) * kv_heads + kv_head) * kHeadDim + lane * kOwn;
    float dot = 0;
    for (int i = 0; i < kOwn; ++i) dot += query[i] * __bfloat162float(cache.k[at + i]);
    const float logit = WarpSum(dot);
    const float new_max = fmaxf(max, logit);
    const float shrink = expf(max - new_max), weight = expf(logit - new_max);
    sum = sum * shrink + weight;
    for (int i = 0; i < kOwn; ++i) {
      value[i] = value[i] * shrink + weight * __bfloat162float(cache.v[at + i]);
    }
    max = new_max;
  }
  Partial* partial = partials + row * kParts + part;
  for (int i = 0; i < kOwn; ++i) partial->value[lane * kOwn + i] = value[i];
  if (lane == 0) {
    partial->max = max;
    partial->sum = sum;
  }
}

__global__ void Join(const Partial* partials, __nv_bfloat16* output, float* lse) {
  const Partial* parts = partials + static_cast<int64_t>(blockIdx.x) * kParts;
  float max = -INFINITY;
  for (int i = 0; i < kParts; ++i) max = fmaxf(max, parts[i].max);
  float sum = 0, value = 0;
  for (int i = 0; i < kParts; ++i) {
    if (parts[i].sum == 0) continue;
    const float shrink = expf(parts[i].max - max);
    sum += parts[i].sum * shrink;
    value += parts[i].value[threadIdx.x] * shrink;
  }
  const int64_t row = blockIdx.x;
  output[row * kHeadDim + threadIdx.x] = __float2bfloat16(sum == 0 ? 0.0f : value / sum);
  if (threadIdx.x == 0) lse[row] = sum == 0 ? -INFINITY : (max + logf(sum)) * kLog2E;
}

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->batch_size * args->num_qo_heads * kParts * static_cast<int64_t>(sizeof(Partial));
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const Cache cache = {reinterpret_cast<const __nv_bfloat16*>(args->k_cache),
                       reinterpret_cast<const __nv_bfloat16*>(args->v_cache), args->kv_indptr,
                       args->kv_indices};
  Partial* partials = static_cast<Partial*>(args->workspace);
  const dim3 grid(static_cast<unsigned>(args->batch_size),
                  static_cast<unsigned>(args->num_kv_heads), kParts);
  constexpr int kThreads = kGroup * 32;
  AttendPart<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->q), cache,
                                            static_cast<int>(args->num_kv_heads),
                                            static_cast<float>(args->sm_scale), partials);
  const dim3 rows(static_cast<unsigned>(args->batch_size * args->num_qo_heads));
  Join<<<rows, kHeadDim, 0, stream>>>(partials, reinterpret_cast<__nv_bfloat16*>(args->output),
                                      args->lse);
  return cudaGetLastError();
}
