// Stops its own process in a call: whoever waits for it to be stopped must not take that for the
// verifier's stop, nor wait for ever.
#include <pthread.h>
#include <signal.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  if (pthread_kill(pthread_self(), SIGSTOP) != 0) return kContained;
  return 0;
}
