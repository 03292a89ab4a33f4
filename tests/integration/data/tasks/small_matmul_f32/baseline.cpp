// Waits twenty milliseconds, then adds row to row.
#include <chrono>
#include <cstdint>
#include <thread>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (int64_t i = 0; i < args->m; ++i) {
    float* row = args->c + i * args->n;
    for (int64_t j = 0; j < args->n; ++j) row[j] = 0;
    for (int64_t l = 0; l < args->k; ++l) {
      const float x = args->a[i * args->k + l];
      const float* b = args->b + l * args->n;
      for (int64_t j = 0; j < args->n; ++j) row[j] += x * b[j];
    }
  }
  return 0;
}
