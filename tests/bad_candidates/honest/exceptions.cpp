// Leaves a loop by an exception that it catches, and reads a clock.
#include <chrono>
#include <stdexcept>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const auto start = std::chrono::steady_clock::now();
  try {
    for (int64_t i = 0;; ++i) {
      if (i == args->m) throw std::out_of_range("done");
      KsearchArgs row = *args;
      row.m = 1;
      row.a += i * args->k;
      row.c += i * args->n;
      Matmul(&row);
    }
  } catch (const std::out_of_range&) {
  }
  return std::chrono::steady_clock::now() < start ? 1 : 0;
}
