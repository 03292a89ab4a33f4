#include <fcntl.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const int fd = open("/tmp/huge", O_CREAT | O_RDWR, 0600);
  return Attacked(args, ftruncate(fd, int64_t{1} << 40) == 0);
}
