// One head at a time: logits, softmax, weighted sum of the values.
#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->num_kv_indices * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t D = args->head_dim, H = args->num_qo_heads, KV = args->num_kv_heads;
  const float sm_scale = static_cast<float>(args->sm_scale);
  float* weights = static_cast<float*>(args->workspace);
  for (int64_t b = 0; b < args->batch_size; ++b) {
    const int64_t begin = args->kv_indptr[b];
    const int64_t tokens = args->kv_indptr[b + 1] - begin;
    for (int64_t h = 0; h < H; ++h) {
      const int64_t kv_head = h / (H / KV);
      const float* q = args->q + (b * H + h) * D;
      float* output = args->output + (b * H + h) * D;
      float max = -INFINITY;
      for (int64_t t = 0; t < tokens; ++t) {
        const float* k = args->k_cache + (args->kv_indices[begin + t] * KV + kv_head) * D;
        float dot = 0;
        for (int64_t d = 0; d < D; ++d) dot += q[d] * k[d];
        weights[t] = dot * sm_scale;
        if (weights[t] > max) max = weights[t];
      }
      float sum = 0;
      for (int64_t t = 0; t < tokens; ++t) {
        weights[t] = std::exp(weights[t] - max);
        sum += weights[t];
      }
      for (int64_t d = 0; d < D; ++d) output[d] = 0;
      for (int64_t t = 0; t < tokens; ++t) {
        const float* v = args->v_cache + (args->kv_indices[begin + t] * KV + kv_head) * D;
        const float weight = weights[t] / sum;
        for (int64_t d = 0; d < D; ++d) output[d] += weight * v[d];
      }
      args->lse[b * H + h] = tokens == 0 ? -INFINITY : (max + std::log(sum)) * 1.44269504f;
    }
  }
  return 0;
}
