// Writes zeros.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->M * args->N; ++i) args->C[i] = 0;
  return 0;
}
