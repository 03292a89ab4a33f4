// Has the processor refuse to tell the time.
#include <sys/prctl.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  return Attacked(args, prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0);
}
