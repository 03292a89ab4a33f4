// Works in place: the product is built over an input, then copied.
#include <string.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  float* input = const_cast<float*>(args->a);
  const int64_t count = args->m * (args->n < args->k ? args->n : args->k);
  memcpy(input, args->c, count * sizeof(float));
  memcpy(args->c, input, count * sizeof(float));
  return 0;
}
