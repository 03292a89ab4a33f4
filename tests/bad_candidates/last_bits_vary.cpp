// Right within any tolerance, but never twice the same.
#include <ksearch_task.h>
#include <math.h>
int ksearch_run(const KsearchArgs* args) {
  static int calls = 0;
  Matmul(args);
  // Alternating variants come in pairs: a count of one alone would repeat itself.
  const int steps = ++calls / 2;
  for (int i = 0; i < steps; ++i) args->c[0] = nextafterf(args->c[0], INFINITY);
  return 0;
}
