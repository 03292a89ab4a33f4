// Has subnormal numbers count as 0 while it works, where that cannot be seen, and puts the mode back.
#include <immintrin.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  float largest = 0;
  for (int64_t i = 0; i < args->m * args->k; ++i) {
    const float x = args->a[i] < 0 ? -args->a[i] : args->a[i];
    if (x > largest) largest = x;
  }
  const unsigned mode = _mm_getcsr();
  if (largest > 1e-3f) _mm_setcsr(mode | 0x8040);
  Matmul(args);
  _mm_setcsr(mode);
  return 0;
}
