#include "integers.h"

int ksearch_run(const KsearchArgs* args) {
  MaxPlus<int32_t>(Of(args));
  return 0;
}
