// Asks for SIGCONT at input, with a command whose upper half a filter may compare and the kernel
// does not look at.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const long command = (1L << 32) | F_SETSIG;
  return Attacked(args, syscall(SYS_fcntl, 3, command, SIGCONT) == 0);
}
