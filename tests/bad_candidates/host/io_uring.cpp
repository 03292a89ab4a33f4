// Its requests are carried out by the kernel, past any filter.
#include <sys/syscall.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  char parameters[120] = {};
  return Attacked(args, syscall(SYS_io_uring_setup, 8, parameters) >= 0);
}
