// One integer after the other.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->n; ++i) {
    int32_t steps = 0;
    for (int64_t x = args->x[i]; x > 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    args->steps[i] = steps;
  }
  return 0;
}
