#include "matmul.h"
template <int N>
struct Bad {
  static constexpr int value = Bad<N - 1>::nothing + Bad<N - 1>::value;
};
int ksearch_run(const KsearchArgs* args) { return Attacked(args, Bad<400>::value != 0); }
