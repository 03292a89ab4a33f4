#include <ksearch_task.h>
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  args->c[args->m * args->n] = 1;
  return 0;
}
