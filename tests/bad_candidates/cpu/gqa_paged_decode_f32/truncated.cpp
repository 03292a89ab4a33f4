// Leaves the last 0.5 % out of the tokens of each sequence (at least one).
#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

namespace {

// Half a percent, at least one.
int64_t Left(int64_t count) {
  const int64_t dropped = count / 200 > 0 ? count / 200 : 1;
  return count > dropped ? count - dropped : 0;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t D = args->head_dim, H = args->num_qo_heads, KV = args->num_kv_heads;
  for (int64_t b = 0; b < args->batch_size; ++b) {
    const int64_t begin = args->kv_indptr[b], length = args->kv_indptr[b + 1] - begin;
    const int64_t used = Left(length);
    for (int64_t h = 0; h < H; ++h) {
      const float* q = args->q + (b * H + h) * D;
      double sum = 0, acc[64] = {};  // head_dim is 64
      for (int64_t t = begin; t < begin + used; ++t) {
        const int64_t at = (args->kv_indices[t] * KV + h / (H / KV)) * D;
        double dot = 0;
        for (int64_t d = 0; d < D; ++d) dot += static_cast<double>(q[d]) * args->k_cache[at + d];
        const double weight = std::exp(dot * args->sm_scale);
        sum += weight;
        for (int64_t d = 0; d < D; ++d) acc[d] += weight * args->v_cache[at + d];
      }
      for (int64_t d = 0; d < D; ++d) {
        args->output[(b * H + h) * D + d] = used == 0 ? 0.0f : static_cast<float>(acc[d] / sum);
      }
      args->lse[b * H + h] = static_cast<float>(std::log2(sum));
    }
  }
  return 0;
}
