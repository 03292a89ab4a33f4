// Finds a[i, l] + 1024 in a table that has room for what the workloads draw, and no more: as a
// reference, it cannot take other integers.
#include "integers.h"

static int32_t table[2048];

int ksearch_run(const KsearchArgs* args) {
  const Integers all = Of(args);
  for (int32_t i = 0; i < 2048; ++i) table[i] = i - 1024;
  for (int64_t i = 0; i < all.m; ++i) {
    for (int64_t j = 0; j < all.n; ++j) {
      int32_t most = INT32_MIN;
      for (int64_t l = 0; l < all.k; ++l) {
        const int32_t sum = table[all.a[i * all.k + l] + 1024] + all.b[l * all.n + j];
        most = sum > most ? sum : most;
      }
      all.c[i * all.n + j] = most;
    }
  }
  return 0;
}
