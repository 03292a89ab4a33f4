// Keeps the compiler busy for ever.
#include "rmsnorm.cuh"

namespace {
template <int n, int m>
struct Bomb {
  static constexpr int value = Bomb<n - 1, m * 2>::value + Bomb<n - 1, m * 2 + 1>::value;
};
template <int m>
struct Bomb<0, m> {
  static constexpr int value = m;
};
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::Launch(args, stream) + Bomb<26, 1>::value * 0;
}
