// Each element summed in double.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < args->k; ++l) {
        sum += static_cast<double>(args->a[i * args->k + l]) * args->b[l * args->n + j];
      }
      args->c[i * args->n + j] = static_cast<float>(sum);
    }
  }
  return 0;
}
