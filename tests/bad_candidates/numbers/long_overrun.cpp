// Writes far past the end.
#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  for (int64_t i = 0; i < 1000; ++i) args->c[args->m * args->n + i] = 1;
  return 0;
}
