#include <ksearch_task.h>
// Uses its workspace to the last byte, and sums in another order.
int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->k * args->n * static_cast<int64_t>(sizeof(float));
}
int ksearch_run(const KsearchArgs* args) {
  float* bt = static_cast<float*>(args->workspace);
  if (args->workspace_bytes != ksearch_workspace_bytes(args)) return 3;
  for (int64_t l = 0; l < args->k; ++l) {
    for (int64_t j = 0; j < args->n; ++j) bt[j * args->k + l] = args->b[l * args->n + j];
  }
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum[4] = {0, 0, 0, 0};
      for (int64_t l = 0; l < args->k; ++l) {
        sum[l % 4] += args->a[i * args->k + l] * bt[j * args->k + l];
      }
      args->c[i * args->n + j] = (sum[3] + sum[2]) + (sum[1] + sum[0]);
    }
  }
  return 0;
}
