// Writes zeros.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->rows * args->hidden_size; ++i) args->y[i] = 0;
  return 0;
}
