// A team of OpenMP threads, which the library keeps between calls; built with -fopenmp.
#include <omp.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const int64_t rows = (args->m + 3) / 4;
#pragma omp parallel for schedule(dynamic) num_threads(omp_get_num_procs() < 4 ? 2 : 4)
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t first = i * rows < args->m ? i * rows : args->m;
    KsearchArgs part = *args;
    part.m = args->m - first < rows ? args->m - first : rows;
    part.a += first * args->k;
    part.c += first * args->n;
    Matmul(&part);
  }
  return 0;
}
