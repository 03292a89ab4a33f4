// Softmax of each row in double.
#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t r = 0; r < args->rows; ++r) {
    const float* x = args->x + r * args->cols;
    float* y = args->y + r * args->cols;
    double max = -INFINITY;
    for (int64_t c = 0; c < args->cols; ++c) {
      if (x[c] > max) max = x[c];
    }
    double sum = 0;
    for (int64_t c = 0; c < args->cols; ++c) sum += std::exp(x[c] - max);
    for (int64_t c = 0; c < args->cols; ++c) {
      y[c] = static_cast<float>(std::exp(x[c] - max) / sum);
    }
  }
  return 0;
}
