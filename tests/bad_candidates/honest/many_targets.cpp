// One function for several kinds of processor, chosen while it is loaded.
#include "matmul.h"
namespace {
__attribute__((target_clones("avx512f", "avx2", "default"), noinline)) void AddRow(float x,
                                                                                   const float* b,
                                                                                   float* row,
                                                                                   int64_t n) {
  for (int64_t j = 0; j < n; ++j) row[j] += x * b[j];
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->m; ++i) {
    float* row = args->c + i * args->n;
    for (int64_t j = 0; j < args->n; ++j) row[j] = 0;
    for (int64_t l = 0; l < args->k; ++l) {
      AddRow(args->a[i * args->k + l], args->b + l * args->n, row, args->n);
    }
  }
  return 0;
}
