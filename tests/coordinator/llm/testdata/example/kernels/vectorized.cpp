#include "ksearch_kernel.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  long i = 0;
  for (; i + 4 <= args->n; i += 4) {
    for (long lane = 0; lane < 4; ++lane) args->c[i + lane] = args->a[i + lane] + args->b[i + lane];
  }
  for (; i < args->n; ++i) args->c[i] = args->a[i] + args->b[i];
  return 0;
}
