// Writes zeros.
#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->batch_size * args->num_qo_heads * args->head_dim; ++i)
    args->output[i] = 0;
  for (int64_t i = 0; i < args->batch_size * args->num_qo_heads; ++i) args->lse[i] = 0;
  return 0;
}
