// residual_out = x + residual; output = residual_out / rms(residual_out) * weight. In double.
#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t H = args->hidden_size;
  for (int64_t b = 0; b < args->batch_size; ++b) {
    const float* x = args->x + b * H;
    const float* residual = args->residual + b * H;
    double squares = 0;
    for (int64_t h = 0; h < H; ++h) {
      const double sum = static_cast<double>(x[h]) + static_cast<double>(residual[h]);
      squares += sum * sum;
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(H) + args->eps);
    for (int64_t h = 0; h < H; ++h) {
      const double sum = static_cast<double>(x[h]) + static_cast<double>(residual[h]);
      args->residual_out[b * H + h] = static_cast<float>(sum);
      args->output[b * H + h] = static_cast<float>(sum * scale * args->weight[h]);
    }
  }
  return 0;
}
