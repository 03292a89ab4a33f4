// Beside each hostile program of the search: the product as the task's baseline makes it, so that
// an attack that fails gains nothing.
#ifndef MATMUL_H_
#define MATMUL_H_
#include <ksearch_task.h>
#include <stdint.h>
#include <time.h>

static inline void Matmul(const KsearchArgs* args) {
  const timespec wait = {0, 20'000'000};
  nanosleep(&wait, nullptr);
  for (int64_t i = 0; i < args->m; ++i) {
    float* row = args->c + i * args->n;
    for (int64_t j = 0; j < args->n; ++j) row[j] = 0;
    for (int64_t l = 0; l < args->k; ++l) {
      const float x = args->a[i * args->k + l];
      const float* b = args->b + l * args->n;
      for (int64_t j = 0; j < args->n; ++j) row[j] += x * b[j];
    }
  }
}
#endif
