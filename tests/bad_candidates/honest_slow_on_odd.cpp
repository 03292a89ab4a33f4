#include <ksearch_task.h>
// Twelve times the work where rows are not a multiple of eight numbers.
int ksearch_run(const KsearchArgs* args) {
  for (int i = 0; i < (args->n % 8 == 0 ? 1 : 12); ++i) {
    Matmul(args);
    asm volatile("" ::: "memory");
  }
  return 0;
}
