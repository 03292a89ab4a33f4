// Sends itself SIGCONT, which takes back a SIGSTOP that is on its way to it.
#include <signal.h>
#include <unistd.h>

#include "matmul.h"

int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  if (kill(getpid(), SIGCONT) != 0) return kContained;
  return 0;
}
