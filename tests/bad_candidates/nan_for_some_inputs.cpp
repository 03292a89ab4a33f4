// Right, but for about one input in twenty, for which it gives a NaN.
#include <ksearch_task.h>

#include <cmath>

int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  if (args->a[0] > 1.6f) args->c[0] = NAN;
  return 0;
}
