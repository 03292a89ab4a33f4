// Hands an input back.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->batch_size * args->hidden_size; ++i) {
    args->residual_out[i] = args->residual[i % (args->batch_size * args->hidden_size)];
  }
  for (int64_t i = 0; i < args->batch_size * args->hidden_size; ++i) {
    args->output[i] = args->x[i % (args->batch_size * args->hidden_size)];
  }
  return 0;
}
