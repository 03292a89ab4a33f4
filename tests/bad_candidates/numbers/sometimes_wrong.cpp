// Every second call, by chance, is right.
#include <random>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  static std::mt19937 chance(std::random_device{}());
  Matmul(args);
  if (chance() % 2 == 0) args->c[args->m * args->n / 2] *= 1.5f;
  return 0;
}
