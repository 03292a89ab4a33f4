// Prepares while it is loaded what depends on no input, and says so.
#include <stdio.h>

#include <vector>

#include "matmul.h"
namespace {
struct Tables {
  Tables() : order(4096) {
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    fputs("tables are ready\n", stderr);
  }
  std::vector<int64_t> order;
} tables;
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  if (args->k > 4096) return 1;
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < args->k; ++l) {
        const int64_t at = tables.order[l];
        sum += args->a[i * args->k + at] * args->b[at * args->n + j];
      }
      args->c[i * args->n + j] = sum;
    }
  }
  return 0;
}
