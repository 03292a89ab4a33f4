#include <ksearch_task.h>
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  args->c[args->n] = __builtin_nanf("");
  return 0;
}
