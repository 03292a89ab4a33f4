// Four TiB of zeros in the object's own tables: nothing on disk, too much to load.
#include "matmul.h"
static char zeros[int64_t{1} << 42];
int ksearch_run(const KsearchArgs* args) {
  zeros[args->m] = 1;
  Matmul(args);
  return 0;
}
