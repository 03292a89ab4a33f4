// Grouped-query attention of one query token per sequence, in double, two passes over the tokens.
#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr double kLn2 = 0.693147180559945309417;

double Logit(const KsearchArgs* args, const float* q, const float* k) {
  double dot = 0;
  for (int64_t d = 0; d < args->head_dim; ++d) {
    dot += static_cast<double>(q[d]) * static_cast<double>(k[d]);
  }
  return dot * args->sm_scale;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t D = args->head_dim, H = args->num_qo_heads, KV = args->num_kv_heads;
  for (int64_t b = 0; b < args->batch_size; ++b) {
    const int64_t begin = args->kv_indptr[b], end = args->kv_indptr[b + 1];
    for (int64_t h = 0; h < H; ++h) {
      const int64_t kv_head = h / (H / KV);
      const float* q = args->q + (b * H + h) * D;
      float* output = args->output + (b * H + h) * D;
      double max = -INFINITY;
      for (int64_t t = begin; t < end; ++t) {
        const int64_t page = args->kv_indices[t];
        max = std::fmax(max, Logit(args, q, args->k_cache + (page * KV + kv_head) * D));
      }
      double sum = 0;
      double acc[256] = {};  // head_dim is 64
      for (int64_t t = begin; t < end; ++t) {
        const int64_t at = (args->kv_indices[t] * KV + kv_head) * D;
        const double weight = std::exp(Logit(args, q, args->k_cache + at) - max);
        sum += weight;
        for (int64_t d = 0; d < D; ++d) acc[d] += weight * args->v_cache[at + d];
      }
      for (int64_t d = 0; d < D; ++d) {
        output[d] = begin == end ? 0.0f : static_cast<float>(acc[d] / sum);
      }
      args->lse[b * H + h] =
          begin == end ? -INFINITY : static_cast<float>((max + std::log(sum)) / kLn2);
    }
  }
  return 0;
}
