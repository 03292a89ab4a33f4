// Sums from the end, in eight strands: other roundings, no worse ones.
#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum[8] = {};
      for (int64_t l = args->k; l-- > 0;) {
        sum[l % 8] += args->a[i * args->k + l] * args->b[l * args->n + j];
      }
      args->c[i * args->n + j] =
          ((sum[7] + sum[3]) + (sum[5] + sum[1])) + ((sum[6] + sum[2]) + (sum[4] + sum[0]));
    }
  }
  return 0;
}
