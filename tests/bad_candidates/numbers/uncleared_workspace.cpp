// Takes its workspace for zeros.
#include <string.h>

#include "matmul.h"
int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return args->m * args->n * static_cast<int64_t>(sizeof(float));
}
int ksearch_run(const KsearchArgs* args) {
  KsearchArgs scratch = *args;
  scratch.c = static_cast<float*>(args->workspace);
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t l = 0; l < args->k; ++l) {
      for (int64_t j = 0; j < args->n; ++j) {
        scratch.c[i * args->n + j] += args->a[i * args->k + l] * args->b[l * args->n + j];
      }
    }
  }
  memcpy(args->c, scratch.c, args->m * args->n * sizeof(float));
  return 0;
}
