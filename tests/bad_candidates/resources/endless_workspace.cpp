// Never says how large its workspace is.
#include "matmul.h"
int64_t ksearch_workspace_bytes(const KsearchArgs*) {
  for (volatile int64_t i = 0;;) i = i + 1;
}
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  return 0;
}
