#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs*) {
  for (;;) pause();
}
