// Causal multi-head latent attention: one block per (query token, head), keys in chunks, softmax in
// double with a running maximum.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kThreads = 256;
constexpr int kChunk = 256;
constexpr int kMaxOwn = 4;  // elements of the output per thread: head_dim_ckv is at most 1024
constexpr double kLog2E = 1.44269504088896340736;

struct Cache {
  const __nv_bfloat16* ckv;
  const __nv_bfloat16* kpe;
  const int32_t* qo_indptr;
  const int32_t* kv_indptr;
  const int32_t* indices;
  int64_t ckv_dim, kpe_dim;
};

// One lane's share of the scalar product of two vectors.
__device__ double PartialDot(const __nv_bfloat16* a, const __nv_bfloat16* b, int64_t count) {
  double dot = 0;
  for (int64_t d = threadIdx.x % 32; d < count; d += 32) {
    dot += static_cast<double>(__bfloat162float(a[d]) * __bfloat162float(b[d]));
  }
  return dot;
}

__device__ double WarpSum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void Attend(const __nv_bfloat16* q_nope, const __nv_bfloat16* q_pe, Cache cache,
                       int64_t heads, double sm_scale, __nv_bfloat16* output, float* lse) {
  __shared__ double weight[kChunk];
  const int64_t token = blockIdx.x, row = token * heads + blockIdx.y;
  int64_t sequence = 0;
  while (cache.qo_indptr[sequence + 1] <= token) ++sequence;
  const int64_t begin = cache.kv_indptr[sequence];
  // The last query of a sequence sees all its keys, the one before it one less, and so on.
  int64_t end = cache.kv_indptr[sequence + 1] - (cache.qo_indptr[sequence + 1] - 1 - token);
  if (end < begin) end = begin;

  double max = -INFINITY, sum = 0, value[kMaxOwn] = {};
  for (int64_t first = begin; first < end; first += kChunk) {
    const int count = static_cast<int>(end - first < kChunk ? end - first : kChunk);
    for (int i = threadIdx.x / 32; i < count; i += kThreads / 32) {
      const int64_t page = cache.indices[first + i];
      const double dot = WarpSum(
          PartialDot(q_nope + row * cache.ckv_dim, cache.ckv + page * cache.ckv_dim,
                     cache.ckv_dim) +
          PartialDot(q_pe + row * cache.kpe_dim, cache.kpe + page * cache.kpe_dim, cache.kpe_dim));
      if (threadIdx.x % 32 == 0) weight[i] = dot * sm_scale;
    }
    __syncthreads();
    double new_max = max;
    for (int i = 0; i < count; ++i) new_max = fmax(new_max, weight[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += kThreads) weight[i] = exp(weight[i] - new_max);
    __syncthreads();
    const double shrink = exp(max - new_max);
    sum *= shrink;
    for (int j = 0; j < kMaxOwn; ++j) value[j] *= shrink;
    for (int i = 0; i < count; ++i) {
      const __nv_bfloat16* v = cache.ckv + cache.indices[first + i] * cache.ckv_dim;
      sum += weight[i];
      for (int j = 0; j < kMaxOwn; ++j) {
        const int d = threadIdx.x + j * kThreads;
        if (d < cache.ckv_dim) value[j] += weight[i] * static_cast<double>(__bfloat162float(v[d]));
      }
    }
    max = new_max;
    __syncthreads();
  }
  for (int j = 0; j < kMaxOwn; ++j) {
    const int d = threadIdx.x + j * kThreads;
    if (d >= cache.ckv_dim) continue;
    output[row * cache.ckv_dim + d] =
        __float2bfloat16(begin == end ? 0.0f : static_cast<float>(value[j] / sum));
  }
  if (threadIdx.x == 0) {
    lse[row] = begin == end ? -INFINITY : static_cast<float>((max + log(sum)) * kLog2E);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->total_q == 0) return 0;
  const Cache cache = {reinterpret_cast<const __nv_bfloat16*>(args->ckv_cache),
                       reinterpret_cast<const __nv_bfloat16*>(args->kpe_cache),
                       args->qo_indptr,
                       args->kv_indptr,
                       args->kv_indices,
                       args->head_dim_ckv,
                       args->head_dim_kpe};
  const dim3 grid(static_cast<unsigned>(args->total_q), static_cast<unsigned>(args->num_qo_heads));
  Attend<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->q_nope),
                                        reinterpret_cast<const __nv_bfloat16*>(args->q_pe), cache,
                                        args->num_qo_heads, args->sm_scale,
                                        reinterpret_cast<__nv_bfloat16*>(args->output), args->lse);
  return cudaGetLastError();
}
