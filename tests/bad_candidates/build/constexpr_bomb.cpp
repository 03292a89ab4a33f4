#include "matmul.h"
constexpr int64_t Spin() {
  int64_t sum = 0;
  for (int64_t i = 0; i < int64_t{1} << 50; ++i) sum += i & 1;
  return sum;
}
constexpr int64_t kSpun = Spin();
int ksearch_run(const KsearchArgs* args) { return Attacked(args, kSpun != 0); }
