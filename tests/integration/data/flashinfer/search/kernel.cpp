#include "ksearch_task.h"

#include <cmath>

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->batch_size * static_cast<int64_t>(sizeof(double));
}

extern "C" int ksearch_run(const KsearchArgs* args) {
  double* const scales = static_cast<double*>(args->workspace);
  const int64_t n = args->hidden_size;
  for (int64_t row = 0; row < args->batch_size; ++row) {
    const float* const x = args->x + row * n;
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
    scales[row] = 1 / std::sqrt(squares / static_cast<double>(n) + args->eps);
  }
  for (int64_t row = 0; row < args->batch_size; ++row) {
    const float* const x = args->x + row * n;
    for (int64_t i = 0; i < n; ++i) {
      args->out[row * n + i] = static_cast<float>(x[i] * scales[row] * args->weight[i]);
    }
  }
  return 0;
}
