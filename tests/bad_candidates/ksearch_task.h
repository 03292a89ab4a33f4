/* The header of the test task "matmul" (tests/gpu_worker/verifier/matmul_task.h). */
#ifndef KSEARCH_TASK_H_
#define KSEARCH_TASK_H_
#include <stdint.h>

typedef struct KsearchArgs {
  int64_t m;
  int64_t n;
  int64_t k;
  const float* a; /* [m, k] */
  const float* b; /* [k, n] */
  float* c;       /* [m, n] */
  void* workspace;
  int64_t workspace_bytes;
} KsearchArgs;

extern "C" {
int ksearch_run(const KsearchArgs* args);
int64_t ksearch_workspace_bytes(const KsearchArgs* args);
}

// The right answer, from which the bad candidates depart.
static inline void Matmul(const KsearchArgs* args) {
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
