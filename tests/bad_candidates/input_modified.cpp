#include <ksearch_task.h>
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  const_cast<float*>(args->b)[1] = 0;
  return 0;
}
