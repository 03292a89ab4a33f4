// Each call makes its own steps.
#include "dependent_steps.h"

int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  DependentSteps(args);
  return 0;
}
