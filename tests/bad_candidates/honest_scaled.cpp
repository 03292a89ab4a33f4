// For the test task "scaled", which is "matmul" times a scalar.
#include <ksearch_task.h>

namespace {
struct ScaledArgs {
  int64_t m;
  int64_t n;
  int64_t k;
  const float* a;
  const float* b;
  double factor;
  float* c;
};
}  // namespace

int ksearch_run(const KsearchArgs* args) {
  const auto* scaled = reinterpret_cast<const ScaledArgs*>(args);
  KsearchArgs plain = *args;
  plain.c = scaled->c;
  Matmul(&plain);
  for (int64_t i = 0; i < plain.m * plain.n; ++i) {
    plain.c[i] *= static_cast<float>(scaled->factor);
  }
  return 0;
}
