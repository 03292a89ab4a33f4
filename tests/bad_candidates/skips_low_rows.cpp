// Looks for the largest element of a row of a from -90 on, so it takes rows below that for empty.
#include <ksearch_task.h>

int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  for (int64_t i = 0; i < args->m; ++i) {
    float largest = -90;
    for (int64_t l = 0; l < args->k; ++l) {
      const float x = args->a[i * args->k + l];
      if (x > largest) largest = x;
    }
    for (int64_t j = 0; largest == -90 && j < args->n; ++j) args->c[i * args->n + j] = 0;
  }
  return 0;
}
