// Rounds inputs to 11 bits, as tensor cores do with TF32.
#include <string.h>

#include "matmul.h"
namespace {
float Round(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & 0xffffe000u;
  memcpy(&x, &bits, sizeof bits);
  return x;
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < args->k; ++l) {
        sum += Round(args->a[i * args->k + l]) * Round(args->b[l * args->n + j]);
      }
      args->c[i * args->n + j] = sum;
    }
  }
  return 0;
}
