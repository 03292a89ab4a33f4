#include "integers.h"

int ksearch_run(const KsearchArgs* args) {
  MaxPlus<int64_t>(Of(args));
  return 0;
}
