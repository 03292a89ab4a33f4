// Each call makes its own steps, which take some 15 us.
#define STEPS 6'000
#include "dependent_steps.h"

int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  DependentSteps(args);
  return 0;
}
