// Shared by the candidates in the folders below. A worker builds them beside the header that it
// generates for the task "matmul".
#ifndef MATMUL_H_
#define MATMUL_H_
#include <ksearch_task.h>
#include <stdint.h>

#include <initializer_list>

// The return value of a candidate whose attack was refused. If the attack works, the candidate
// continues, returns right answers and passes: no test expects that.
constexpr int kContained = 77;

// At the same place of a cache line in every program: by that alone it may be a third faster.
__attribute__((noinline, aligned(64), unused)) static void Matmul(const KsearchArgs* args) {
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

static inline int Attacked(const KsearchArgs* args, bool worked) {
  if (!worked) return kContained;
  Matmul(args);
  return 0;
}
#endif
