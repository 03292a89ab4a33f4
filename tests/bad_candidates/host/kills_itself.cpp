// Dies as if somebody else had killed it.
#include <signal.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs*) {
  kill(getpid(), SIGKILL);
  return kContained;
}
