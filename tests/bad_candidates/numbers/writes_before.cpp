#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  args->c[-3] = 1;
  return 0;
}
