// Right, plus how often it was called: as a reference it disagrees with itself.
#include <ksearch_task.h>
int ksearch_run(const KsearchArgs* args) {
  static int calls = 0;
  Matmul(args);
  for (int64_t i = 0; i < args->m * args->n; ++i) args->c[i] += static_cast<float>(calls);
  ++calls;
  return 0;
}
