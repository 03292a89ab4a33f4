// Hands an input back.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->rows * args->hidden_size; ++i) args->y[i] = args->x[i];
  return 0;
}
