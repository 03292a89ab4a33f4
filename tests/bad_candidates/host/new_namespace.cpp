#include <sched.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  return Attacked(args, unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0);
}
