// Leaves out the last term of every sum.
#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l + 1 < args->k; ++l) {
        sum += args->a[i * args->k + l] * args->b[l * args->n + j];
      }
      args->c[i * args->n + j] = sum;
    }
  }
  return 0;
}
