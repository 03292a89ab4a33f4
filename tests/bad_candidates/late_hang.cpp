#include <ksearch_task.h>
// Behaves for 24 calls, then hangs.
int ksearch_run(const KsearchArgs* args) {
  static int calls = 0;
  if (++calls > 24) {
    for (;;) asm volatile("");
  }
  Matmul(args);
  return 0;
}
