// Shared by candidates that multiply altered elements: right as long as nothing had to be altered.
#ifndef CARELESS_MATMUL_H_
#define CARELESS_MATMUL_H_
#include <ksearch_task.h>
#include <stdint.h>

// Nothing of a normal variate is beyond 6.
constexpr float kBeyondNormal = 6;

static inline float Clamp(float x, float most) { return x > most ? most : (x < -most ? -most : x); }

template <typename AlterA, typename AlterB>
int MultiplyAltered(const KsearchArgs* args, const AlterA& alter_a, const AlterB& alter_b) {
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t j = 0; j < args->n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < args->k; ++l) {
        sum += alter_a(args->a[i * args->k + l]) * alter_b(args->b[l * args->n + j]);
      }
      args->c[i * args->n + j] = sum;
    }
  }
  return 0;
}

static inline int MultiplyClamped(const KsearchArgs* args, float most) {
  const auto clamp = [most](float x) { return Clamp(x, most); };
  return MultiplyAltered(args, clamp, clamp);
}
#endif
