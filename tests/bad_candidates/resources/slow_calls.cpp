// Each call keeps its limit, all of them together do not end.
#include <time.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const timespec pause = {0, 700'000'000};
  nanosleep(&pause, nullptr);
  Matmul(args);
  return 0;
}
