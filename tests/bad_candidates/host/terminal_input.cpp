// Types a command into whatever terminal the worker was started from.
#include <sys/ioctl.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (int fd = 0; fd < 16; ++fd) worked |= ioctl(fd, TIOCSTI, "x") == 0;
  return Attacked(args, worked);
}
