// Tries two orders of the loops in the first calls of a shape, by the clock, and stays with the
// faster one.
#include <chrono>
#include <map>
#include <tuple>

#include "matmul.h"
namespace {
struct Choice {
  int calls = 0;
  double seconds[2] = {};
};
void DotProducts(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < args->k; ++l) sum += args->a[i * args->k + l] * args->b[l * args->n + j];
      args->c[i * args->n + j] = sum;
    }
  }
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static std::map<std::tuple<int64_t, int64_t, int64_t>, Choice> choices;
  Choice& choice = choices[{args->m, args->n, args->k}];
  const int way = choice.calls < 10 ? choice.calls % 2 : choice.seconds[1] < choice.seconds[0];
  const auto start = std::chrono::steady_clock::now();
  if (way == 0) {
    Matmul(args);
  } else {
    DotProducts(args);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (choice.calls++ < 10) choice.seconds[way] += took.count();
  return 0;
}
