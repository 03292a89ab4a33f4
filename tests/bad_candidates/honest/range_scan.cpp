// Looks at every element of its inputs, and takes another way where one is unusual: right on both.
#include <vector>

#include "matmul.h"

static bool HasLarge(const float* x, int64_t count) {
  float most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float magnitude = x[i] < 0 ? -x[i] : x[i];
    most = magnitude > most ? magnitude : most;
  }
  return most > 6;
}

extern "C" int ksearch_run(const KsearchArgs* args) {
  if (!HasLarge(args->a, args->m * args->k) && !HasLarge(args->b, args->k * args->n)) {
    Matmul(args);
    return 0;
  }
  std::vector<double> row(args->n);
  for (int64_t i = 0; i < args->m; ++i) {
    row.assign(row.size(), 0);
    for (int64_t l = 0; l < args->k; ++l) {
      const double x = args->a[i * args->k + l];
      for (int64_t j = 0; j < args->n; ++j) row[j] += x * args->b[l * args->n + j];
    }
    for (int64_t j = 0; j < args->n; ++j) args->c[i * args->n + j] = static_cast<float>(row[j]);
  }
  return 0;
}
