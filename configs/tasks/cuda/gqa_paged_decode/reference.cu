// Grouped-query attention of one query token per sequence: one block per (sequence, query head),
// keys in chunks, softmax in double with a running maximum.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kHeadDim = 128;
constexpr int kThreads = kHeadDim;  // each thread owns one element of the output
constexpr int kChunk = 256;
constexpr double kLog2E = 1.44269504088896340736;

struct Cache {
  const __nv_bfloat16* k;
  const __nv_bfloat16* v;
  const int32_t* indptr;
  const int32_t* indices;
  int64_t heads;
};

__device__ double WarpSum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void Attend(const __nv_bfloat16* q, Cache cache, int64_t query_heads, double sm_scale,
                       __nv_bfloat16* output, float* lse) {
  __shared__ double weight[kChunk];
  const int64_t sequence = blockIdx.x, head = blockIdx.y;
  const int64_t kv_head = head / (query_heads / cache.heads);
  const int64_t begin = cache.indptr[sequence], end = cache.indptr[sequence + 1];
  q += (sequence * query_heads + head) * kHeadDim;
  output += (sequence * query_heads + head) * kHeadDim;
  const int lane = threadIdx.x % 32;

  double max = -INFINITY, sum = 0, value = 0;
  for (int64_t first = begin; first < end; first += kChunk) {
    const int count = static_cast<int>(end - first < kChunk ? end - first : kChunk);
    for (int i = threadIdx.x / 32; i < count; i += kThreads / 32) {
      const int64_t page = cache.indices[first + i];
      const __nv_bfloat16* k = cache.k + (page * cache.heads + kv_head) * kHeadDim;
      double dot = 0;
      for (int d = lane; d < kHeadDim; d += 32) {
        dot += static_cast<double>(__bfloat162float(q[d]) * __bfloat162float(k[d]));
      }
      dot = WarpSum(dot);
      if (lane == 0) weight[i] = dot * sm_scale;
    }
    __syncthreads();
    double new_max = max;
    for (int i = 0; i < count; ++i) new_max = fmax(new_max, weight[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += kThreads) weight[i] = exp(weight[i] - new_max);
    __syncthreads();
    const double shrink = exp(max - new_max);
    sum *= shrink;
    value *= shrink;
    for (int i = 0; i < count; ++i) {
      const int64_t page = cache.indices[first + i];
      const __nv_bfloat16* v = cache.v + (page * cache.heads + kv_head) * kHeadDim;
      sum += weight[i];
      value += weight[i] * static_cast<double>(__bfloat162float(v[threadIdx.x]));
    }
    max = new_max;
    __syncthreads();
  }
  output[threadIdx.x] = __float2bfloat16(begin == end ? 0.0f : static_cast<float>(value / sum));
  if (threadIdx.x == 0) {
    lse[sequence * query_heads + head] =
        begin == end ? -INFINITY : static_cast<float>((max + log(sum)) * kLog2E);
  }
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  const Cache cache = {reinterpret_cast<const __nv_bfloat16*>(args->k_cache),
                       reinterpret_cast<const __nv_bfloat16*>(args->v_cache), args->kv_indptr,
                       args->kv_indices, args->num_kv_heads};
  const dim3 grid(static_cast<unsigned>(args->batch_size),
                  static_cast<unsigned>(args->num_qo_heads));
  Attend<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const __nv_bfloat16*>(args->q), cache,
                                        args->num_qo_heads, args->sm_scale,
                                        reinterpret_cast<__nv_bfloat16*>(args->output), args->lse);
  return cudaGetLastError();
}
