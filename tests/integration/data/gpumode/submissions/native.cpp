#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t row = 0; row < args->rows; ++row) {
    for (int64_t col = 0; col < args->cols; ++col) {
      const int64_t i = row * args->cols + col;
      args->out[i] = args->x[i] * args->weights_scale_weight[col] * args->mask[row] /
                     static_cast<float>(args->config_divisor);
    }
  }
  return 0;
}
