#include <fcntl.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  for (int i = 0; i < 5000; ++i) {
    if (open("/dev/null", O_RDONLY) < 0) return kContained;
  }
  return Attacked(args, true);
}
